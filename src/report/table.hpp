// Tables in plain text: aligned for people, tab-separated for programs. A value belongs to one
// thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace xtts::report {

enum class Align : std::uint8_t { kLeft, kRight };

class Table {
 public:
  static constexpr std::size_t kCellWidthMax = 40;

  explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}

  // Missing cells are empty; extra cells are left out. Cells are printed as they are, so escape
  // the text of a corpus first.
  void add_row(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

  // Puts two spaces between columns, `indent` before each line, and no space at the end of a line.
  // A line longer than `width_max` columns (0: no limit) is cut at its end. A cell is cut at
  // kCellWidthMax unless it is the last of its row, so one long name does not push the others
  // aside.
  [[nodiscard]] std::string render(std::size_t indent = 0, std::size_t width_max = 0) const;
  // Puts one tab between cells, for `cut` and `awk`. Escape tabs and line ends within a cell
  // first.
  [[nodiscard]] std::string render_tabs() const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace xtts::report
