#include "corpus/files/column_files.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"
#include "corpus/files/row_server.hpp"

namespace xtts::corpus {
namespace {

using nlohmann::json;

constexpr std::string_view kServedMark = "rows";

constexpr std::string_view name_of(ColumnFileKind kind) {
  switch (kind) {
    case ColumnFileKind::kParquet:
      return "parquet";
    case ColumnFileKind::kArrowStream:
      return "arrow";
    case ColumnFileKind::kServed:
      break;
  }
  return "rows";
}

// Asks about a file, which the server must find as `env` sees it.
Result<std::vector<std::byte>> ask(Env& env, ColumnFileKind kind, const std::string& path,
                                   std::string_view what, std::uint64_t row,
                                   std::string_view count = "", std::string_view fields = "",
                                   std::string_view sound = "") {
  XTTS_ASSIGN(const FileFacts facts, env.stat(path));
  std::string seen;
  for (const std::uint64_t number : {facts.device, facts.inode, facts.size_bytes})
    seen += formatted("{} ", number);
  seen += std::to_string(facts.mtime_ns);
  const bool is_served = kind == ColumnFileKind::kServed;
  return ask_row_server(
      {what, name_of(kind), path, seen, std::to_string(row), count, fields, sound},
      is_served ? parent_path(path) : std::string());
}

Status no_rows() {
  return {StatusCode::kSourceIo, "was answered for with what are no rows"};
}

std::string text_in(const json& row, const char* name) {
  const auto found = row.find(name);
  const auto* const text = found == row.end() ? nullptr : found->get_ptr<const json::string_t*>();
  return text == nullptr ? std::string() : *text;
}

std::optional<std::uint64_t> number_in(const json& row, const char* name) {
  const auto found = row.find(name);
  if (found == row.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

}  // namespace

Status ColumnRows::read() {
  XTTS_ASSIGN(const auto answer,
              ask(env_, kind_, path_, "rows", row_, std::to_string(rows_at_once_),
                  parts_ == RowParts::kSound ? "0" : "1", parts_ == RowParts::kFields ? "0" : "1"));
  json rows = json::parse(answer, nullptr, false);
  if (!rows.is_object() || !rows["rows"].is_array() || !rows["left_out"].is_string())
    return no_rows();
  left_out_ = printable(rows["left_out"].get<std::string>());
  is_stream_ = rows["is_stream"] == true;
  rows_ = std::move(rows["rows"]);
  next_ = 0;
  return {};
}

Result<std::optional<ColumnRow>> ColumnRows::next() {
  if (next_ == rows_.size()) XTTS_TRY(read());
  if (rows_.empty()) return std::optional<ColumnRow>();
  json& found = rows_[next_++];
  if (!found.is_object() || !found["fields"].is_object()) return no_rows();
  ColumnRow row;
  row.fields = std::move(found["fields"]);
  row.audio_path = text_in(found, "path");
  if (found.contains("fault")) row.fault = printable(text_in(found, "fault"));
  const auto offset_bytes = number_in(found, "offset");
  const auto size_bytes = number_in(found, "size");
  if (offset_bytes && size_bytes) {
    row.sound = {*offset_bytes, *size_bytes};
    if (kind_ != ColumnFileKind::kArrowStream) row.row = row_;
  }
  ++row_;
  return std::optional<ColumnRow>(std::move(row));
}

std::optional<ColumnFileKind> column_file_kind(std::string_view path) {
  const std::string_view extension = file_extension(path);
  if (equals_ignoring_case(extension, "parquet")) return ColumnFileKind::kParquet;
  if (equals_ignoring_case(extension, "arrow")) return ColumnFileKind::kArrowStream;
  if (extension == "rows") return ColumnFileKind::kServed;
  return std::nullopt;
}

Result<bool> begins_as(const RandomAccessFile& file, ColumnFileKind kind) {
  // An Arrow stream begins with the mark of its first message.
  std::string_view mark = kind == ColumnFileKind::kParquet ? "PAR1" : "\xFF\xFF\xFF\xFF";
  if (kind == ColumnFileKind::kServed) mark = kServedMark;
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
  return audio_rank(extension) ? formatted("{}.{}", digits, extension) : digits;
}

std::optional<std::uint64_t> row_of_name(std::string_view name) {
  const std::string_view digits = name.substr(0, name.find('.'));
  std::uint64_t row = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, row);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return row;
}

Result<ColumnRows> open_column_rows(Env& env, const std::string& path, ColumnFileKind kind,
                                    RowParts parts) {
  ColumnRows rows(env, path, kind, parts);
  XTTS_TRY(rows.read());
  return rows;
}

Result<std::optional<ColumnRow>> place_of_row(Env& env, const std::string& path,
                                              ColumnFileKind kind, std::uint64_t row) {
  ColumnRows rows(env, path, kind, RowParts::kSound, row, 1);
  XTTS_ASSIGN(auto found, rows.next());
  if (!found || !found->sound) return std::optional<ColumnRow>();
  return found;
}

Result<std::vector<std::byte>> sound_of_row(Env& env, const std::string& path, std::uint64_t row) {
  const auto kind = column_file_kind(path);
  if (!kind) return Status(StatusCode::kInternal, "is no file with columns");
  return ask(env, *kind, path, "sound", row);
}

}  // namespace xtts::corpus
