#include "corpus/column_files.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <span>
#include <utility>

#include "base/try.hpp"
#include "corpus/audio_extensions.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {

std::optional<ColumnFileKind> column_file_kind(std::string_view path) {
  const std::string_view extension = file_extension(path);
  if (equals_ignoring_case(extension, "parquet")) return ColumnFileKind::kParquet;
  if (equals_ignoring_case(extension, "arrow")) return ColumnFileKind::kArrowStream;
  return std::nullopt;
}

Result<bool> begins_as(const RandomAccessFile& file, ColumnFileKind kind) {
  // An Arrow stream begins with the mark of its first message.
  const std::string_view mark = kind == ColumnFileKind::kParquet ? "PAR1" : "\xFF\xFF\xFF\xFF";
  std::array<char, 4> begin{};
  XTTS_ASSIGN(const std::size_t got,
              file.read_at(0, std::as_writable_bytes(std::span<char>(begin))));
  return std::string_view(begin.data(), got) == mark;
}

std::string name_of_row(std::uint64_t row, std::string_view audio_path) {
  std::string digits = std::to_string(row);
  constexpr std::size_t kDigits = 8;
  if (digits.size() < kDigits) digits.insert(0, kDigits - digits.size(), '0');
  const std::string_view extension = file_extension(audio_path);
  return audio_rank(extension) ? digits + "." + std::string(extension) : digits;
}

std::optional<std::uint64_t> row_of_name(std::string_view name) {
  const std::string_view digits = name.substr(0, name.find('.'));
  std::uint64_t row = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, row);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return row;
}

Result<std::optional<ColumnRow>> sound_of_row(const RandomAccessFile& file, ColumnFileKind kind,
                                              std::uint64_t row) {
  XTTS_ASSIGN(const auto rows, open_column_rows(file, kind, RowParts::kSound));
  for (std::uint64_t i = 0;; ++i) {
    XTTS_ASSIGN(auto found, rows->next());
    if (!found || (i == row && !found->sound)) return std::optional<ColumnRow>();
    if (i == row) return found;
  }
}

}  // namespace xtts::corpus
