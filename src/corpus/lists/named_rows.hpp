// NamedRows reads the rows of a list with named fields, as JSON objects. The list is JSON lines
// (*.jsonl, *.json) or a table with a header line (any other name); ".gz" is inflated on the way.
// The cells of a table are texts. Owns the list. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/lists/csv_reader.hpp"
#include "corpus/lists/layout_input.hpp"
#include "corpus/lists/line_reader.hpp"

namespace xtts::corpus {

struct NamedRow {
  std::uint64_t line = 0;
  Result<nlohmann::json> fields;  // an object; a failure continues "the line ..."
};

class NamedRows {
 public:
  // A failure names the list: it cannot be read, is UTF-16, damaged or too big, or a table has an
  // invalid header.
  [[nodiscard]] static Result<NamedRows> open(const LayoutInput& input, const std::string& list);

  [[nodiscard]] std::optional<NamedRow> next();
  [[nodiscard]] bool had_byte_order_mark() const { return text_->had_byte_order_mark(); }

 private:
  Status read_header(const std::string& list);
  [[nodiscard]] std::optional<NamedRow> next_of_table();
  [[nodiscard]] std::optional<NamedRow> next_of_json();

  std::unique_ptr<LineReader> text_;  // the table reads its bytes
  std::optional<CsvReader> table_;    // unset: JSON lines
  std::vector<std::string> names_;
};

// Parses a line as a JSON object. kBadInput, continuing "the line ...": not UTF-8, more than
// kTextBytesMax, no JSON, deeper than 64 levels, or not an object.
[[nodiscard]] Result<nlohmann::json> parse_json_line(std::string_view line);

// True where one of the first eight lines is an object for which `is_such` holds. A broken first
// line must not hide the kind of the list.
[[nodiscard]] bool begins_with_object(std::string_view text,
                                      const std::function<bool(const nlohmann::json&)>& is_such);

// The column names in the first line of a table; empty: it cannot be split.
[[nodiscard]] std::vector<std::string> names_of_header(std::string_view line);

// True where a list with this name is read as JSON lines.
[[nodiscard]] bool has_json_lines(std::string_view list);

}  // namespace xtts::corpus
