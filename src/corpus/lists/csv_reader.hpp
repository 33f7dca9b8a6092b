// CsvReader: the records of a table (RFC 4180, any separator): fields may be quoted, and quoted
// ones may hold separators, line ends and doubled quotes. A view of its bytes, which must outlive
// it, and of which it looks at a bounded part at a time. One thread at a time.
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

#include "corpus/lists/byte_window.hpp"

namespace xtts::corpus {

struct CsvRecord {
  std::uint64_t line = 0;  // where it begins, from 1
  std::vector<std::string> fields;
  std::optional<std::string> fault;  // continues "the line ..."; fields are then no good
};

class CsvReader {
 public:
  CsvReader(std::string_view text, char separator);
  // Of the bytes that are still to come.
  CsvReader(ByteWindow& bytes, char separator);
  // Blank lines are no records; nullopt at the end.
  [[nodiscard]] std::optional<CsvRecord> next();

 private:
  [[nodiscard]] bool at_line_end(std::size_t position) const;
  [[nodiscard]] bool skip_blank_lines();
  void look();
  [[nodiscard]] bool is_cut() const;
  void skip_rest_of_line();
  [[nodiscard]] std::string_view take_line();
  [[nodiscard]] std::optional<std::string> take_record(std::vector<std::string>& fields);
  [[nodiscard]] std::optional<std::string> take_quoted(std::size_t begin, std::string& field);
  void take_plain(std::string& field);

  [[nodiscard]] ByteWindow& bytes() { return own_bytes_ ? *own_bytes_ : *bytes_; }

  std::optional<ByteWindow> own_bytes_;
  ByteWindow* bytes_ = nullptr;  // where they are not our own
  std::string_view text_;        // of the bytes to come, as far as a record may reach
  bool is_all_ = false;          // the text ends with the bytes
  char separator_;
  char line_end_;
  std::size_t position_ = 0;
  std::uint64_t line_ = 1;
};

// Tab, ';', '|' or ',': the one that the header has most of.
[[nodiscard]] char separator_of(std::string_view header);

}  // namespace xtts::corpus
