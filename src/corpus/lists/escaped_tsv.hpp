// EscapedTsv reads the rows of a table whose first line names the columns, in Common Voice's form:
// tabs between fields, no quoting, a backslash before each '"' and '\' in a field. Owns the row
// that it split. One thread at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::corpus {

class EscapedTsv {
 public:
  explicit EscapedTsv(std::string_view header);

  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  // Takes the next row. kBadInput: its field count differs from the header's.
  [[nodiscard]] Status take(std::string_view line);
  // A field of the current row, trimmed; empty where there is no such column.
  [[nodiscard]] std::string_view field(std::optional<std::size_t> column) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::string> fields_;
};

}  // namespace xtts::corpus
