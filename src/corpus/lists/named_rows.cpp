#include "corpus/lists/named_rows.hpp"

#include <algorithm>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/files/names.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace {

using nlohmann::json;

std::vector<std::string> as_names(std::vector<std::string> cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = std::string(trimmed(cells[i]));
    // pandas writes the row number in a column without a name.
    if (cells[i].empty()) cells[i] = formatted("column_{}", i + 1);
  }
  return cells;
}

}  // namespace

bool has_json_lines(std::string_view list) {
  if (equals_ignoring_case(file_extension(list), "gz")) list.remove_suffix(3);
  const std::string_view extension = file_extension(list);
  return equals_ignoring_case(extension, "jsonl") || equals_ignoring_case(extension, "json");
}

Result<json> parse_json_line(std::string_view line) {
  if (auto fault = fault_of_text_bytes(line)) return Status(StatusCode::kBadInput, *fault);
  auto value = formats::parse_json(line);
  if (!value.ok()) {
    return Status(StatusCode::kBadInput, "is not JSON: " + value.status().message());
  }
  if (!value->is_object()) return Status(StatusCode::kBadInput, "is not a JSON object");
  return value;
}

bool begins_with_object(std::string_view text, const std::function<bool(const json&)>& is_such) {
  constexpr int kLinesLookedAt = 8;
  for (int i = 0; i < kLinesLookedAt; ++i) {
    const auto row = parse_json_line(take_line(text));
    if (row.ok() && is_such(*row)) return true;
  }
  return false;
}

std::vector<std::string> names_of_header(std::string_view line) {
  auto header = CsvReader(line, separator_of(line)).next();
  if (!header || header->fault) return {};
  return as_names(std::move(header->fields));
}

Result<NamedRows> NamedRows::open(const LayoutInput& input, const std::string& list) {
  XTTS_ASSIGN(LineReader text, read_list(input, list));
  NamedRows rows;
  rows.text_ = std::make_unique<LineReader>(std::move(text));
  if (!has_json_lines(list)) XTTS_TRY(rows.read_header(list));
  return rows;
}

Status NamedRows::read_header(const std::string& list) {
  // A header has at most this size.
  const std::string_view beginning = text_->bytes().peek(kTextBytesMax);
  table_.emplace(text_->bytes(), separator_of(first_line(beginning)));
  auto header = table_->next();
  if (!header) return {};  // an empty list has no rows
  const auto invalid = [&](const std::string& reason) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("the header line of {} {}", list, reason));
  };
  if (header->fault) return invalid(*header->fault);
  names_ = as_names(std::move(header->fields));
  std::vector<std::string> sorted = names_;
  std::sort(sorted.begin(), sorted.end());
  const auto twin = std::adjacent_find(sorted.begin(), sorted.end());
  if (twin != sorted.end()) return invalid(formatted("has the name {} twice", printable(*twin)));
  return {};
}

std::optional<NamedRow> NamedRows::next() {
  return table_ ? next_of_table() : next_of_json();
}

std::optional<NamedRow> NamedRows::next_of_json() {
  while (const auto line = text_->next()) {
    if (!trimmed(line->text).empty()) return NamedRow{line->number, parse_json_line(line->text)};
  }
  return std::nullopt;
}

std::optional<NamedRow> NamedRows::next_of_table() {
  auto record = table_->next();
  if (!record) return std::nullopt;
  const auto bad = [&](std::string reason) {
    return NamedRow{record->line, Status(StatusCode::kBadInput, std::move(reason))};
  };
  if (record->fault) return bad(*record->fault);
  if (auto fault = fault_of_field_count(record->fields.size(), names_.size())) {
    return bad(std::move(*fault));
  }
  json row = json::object();
  for (std::size_t i = 0; i < names_.size(); ++i) row[names_[i]] = std::move(record->fields[i]);
  return NamedRow{record->line, std::move(row)};
}

}  // namespace xtts::corpus
