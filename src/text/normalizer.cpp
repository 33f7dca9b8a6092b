#include "text/normalizer.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/formatted.hpp"
#include "base/nfc.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"

namespace xtts::text {
namespace {

// '^' and '$' as numbers that no code point has.
constexpr std::uint32_t kBegin = 0x110000;
constexpr std::uint32_t kEnd = 0x110001;

// Rows that chase each other must end, too. A run of 2^n signs that become one takes n passes.
constexpr std::size_t kPassesMax = 64;

std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::optional<std::uint32_t> code_point_of(std::string_view word) {
  if (word == "^") return kBegin;
  if (word == "$") return kEnd;
  std::uint32_t value = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value, 16);
  if (error != std::errc() || stop != end || value >= kBegin) return std::nullopt;
  return value;
}

std::optional<std::vector<std::uint32_t>> code_points_of(std::string_view words) {
  std::vector<std::uint32_t> code_points;
  while (!words.empty()) {
    const auto value = code_point_of(take(words, '+'));
    if (!value) return std::nullopt;
    code_points.push_back(*value);
  }
  return code_points;
}

std::vector<std::uint32_t> decoded(std::string_view text) {
  std::vector<std::uint32_t> code_points{kBegin};
  code_points.reserve(text.size() + 2);
  while (!text.empty()) {
    const std::size_t length = utf8_length_bytes(text);
    code_points.push_back(utf8_code_point(text.substr(0, length)));
    text.remove_prefix(length);
  }
  code_points.push_back(kEnd);
  return code_points;
}

std::string encoded(const std::vector<std::uint32_t>& code_points) {
  std::string text;
  text.reserve(2 * code_points.size());
  for (const std::uint32_t code_point : code_points)
    if (code_point < kBegin) append_utf8(code_point, text);
  return text;
}

}  // namespace

Result<TextNormalizer::Table> TextNormalizer::read(const formats::TextTable& table) {
  Table made;
  made.is_nfc = table.name == "nfc";
  if (made.is_nfc) return made;
  for (std::string_view rest = table.rows; !rest.empty();) {
    std::string_view to = take(rest, ',');
    const std::string row(to);
    const auto from = code_points_of(take(to, '>'));
    auto target = code_points_of(to);
    if (!from || from->empty() || !target || row.find('>') == std::string::npos) {
      return Status(
          StatusCode::kUnsupported,
          formatted("text.normalize: the table {} has a row that this version cannot read: {}",
                    table.name, row));
    }
    made.has_sequences = made.has_sequences || from->size() > 1;
    made.least = std::min(made.least, from->front());
    made.rows[from->front()].push_back({*from, std::move(*target)});
  }
  for (auto& [first, rows] : made.rows)
    std::ranges::stable_sort(rows, std::greater<>(),
                             [](const Row& row) { return row.from.size(); });
  return made;
}

Result<TextNormalizer> TextNormalizer::create(std::span<const formats::TextTable> tables) {
  TextNormalizer normalizer;
  for (const formats::TextTable& table : tables) {
    XTTS_ASSIGN(normalizer.tables_.emplace_back(), read(table));
  }
  return normalizer;
}

// One pass; returns whether the text has changed.
bool TextNormalizer::replace(const Table& table, CodePoints& text) {
  CodePoints out;
  out.reserve(text.size());
  for (std::size_t place = 0; place < text.size();) {
    const auto begins_here = [&](const Row& row) {
      return row.from.size() <= text.size() - place &&
             std::equal(row.from.begin(), row.from.end(),
                        text.begin() + static_cast<std::ptrdiff_t>(place));
    };
    const auto rows = text[place] < table.least ? table.rows.end() : table.rows.find(text[place]);
    const Row* found = nullptr;
    if (rows != table.rows.end()) {
      const auto row = std::ranges::find_if(rows->second, begins_here);
      if (row != rows->second.end()) found = &*row;
    }
    if (found == nullptr) {
      out.push_back(text[place++]);
      continue;
    }
    out.insert(out.end(), found->to.begin(), found->to.end());
    place += found->from.size();
  }
  const bool is_changed = out != text;
  text = std::move(out);
  return is_changed;
}

std::string TextNormalizer::apply_once(std::string_view text) const {
  std::string result(text);
  for (const Table& table : tables_) {
    if (table.is_nfc) {
      result = nfc(result);
      continue;
    }
    CodePoints code_points = decoded(result);
    std::size_t passes = table.has_sequences ? kPassesMax : 1;
    while (passes-- > 0 && replace(table, code_points)) {
    }
    result = encoded(code_points);
  }
  return result;
}

std::string TextNormalizer::apply(std::string_view text) const {
  if (!is_utf8(text)) return std::string(text);
  std::string result(text);
  for (std::size_t passes = kPassesMax; passes > 0; --passes) {
    std::string next = apply_once(result);
    if (next == result) break;
    result = std::move(next);
  }
  return result;
}

}  // namespace xtts::text
