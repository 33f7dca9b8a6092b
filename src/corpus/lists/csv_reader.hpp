// CsvReader reads the records of a table (RFC 4180, any separator). Fields may be quoted; a quoted
// field may hold separators, line ends and doubled quotes. A view of its bytes, which must outlive
// it; it looks at a bounded part at a time. One thread at a time.
//
// A record that breaks the rules is returned with its fault, and the next record begins on the
// next line: an unclosed quote costs one line, not the rest of the table. Tables with tabs often
// have no quoting (Common Voice). There, a field that begins with a quote and does not end in one
// is taken literally, and its record ends with the line.
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
  std::optional<std::string> fault;  // continues "the line ..."; fields are then invalid
};

class CsvReader {
 public:
  CsvReader(std::string_view text, char separator);
  // Reads the remaining bytes of `bytes`.
  CsvReader(ByteWindow& bytes, char separator);
  // The next record, without blank lines; nullopt at the end.
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
  ByteWindow* bytes_ = nullptr;  // set where the bytes are not our own
  std::string_view text_;        // the next bytes, as far as a record may reach
  bool is_all_ = false;          // the text ends with the bytes
  char separator_;
  char line_end_;
  std::size_t position_ = 0;
  std::uint64_t line_ = 1;
};

// The separator that the header has most: tab, ';', '|' or ','.
[[nodiscard]] char separator_of(std::string_view header);

}  // namespace xtts::corpus
