// CsvText: the records of a table (RFC 4180, any separator): fields may be quoted, and quoted ones
// may hold separators, line ends and doubled quotes. A view of its text, which must outlive it. One
// thread at a time.
//
// A record that breaks the rules is given back with its fault, and the next begins at the line
// after its first: a quote that is never closed costs one line, not the rest of the table. Tables
// with tabs are often written without any quoting (Common Voice): there a field that begins with a
// quote and does not end in one is taken as it stands, and its record ends with the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xtts::corpus {

struct CsvRecord {
  std::uint64_t line = 0;  // where it begins, from 1
  std::vector<std::string> fields;
  std::optional<std::string> fault;  // continues "the line ..."; fields are then no good
};

class CsvText {
 public:
  CsvText(std::string_view text, char separator);
  // Blank lines are no records; nullopt at the end.
  [[nodiscard]] std::optional<CsvRecord> next();

 private:
  [[nodiscard]] bool at_line_end(std::size_t position) const;
  void skip_blank_lines();
  [[nodiscard]] std::string_view take_line();
  [[nodiscard]] std::optional<std::string> take_record(std::vector<std::string>& fields);
  [[nodiscard]] std::optional<std::string> take_quoted(std::size_t begin, std::string& field);
  void take_plain(std::string& field);

  std::string_view text_;
  char separator_;
  char line_end_;
  std::size_t position_ = 0;
  std::uint64_t line_ = 1;
};

// Tab, ';' or ',': the one that the header has most of.
[[nodiscard]] char separator_of(std::string_view header);

}  // namespace xtts::corpus
