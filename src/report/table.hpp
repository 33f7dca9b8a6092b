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

  // Cells that a row lacks are empty; further ones are left out. Their text is taken as it is:
  // escape what a corpus said.
  void add_row(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

  // Two spaces between columns, `indent` before each line, no space at the end of a line. A line
  // never exceeds `width_max` columns (0: no limit): its end is cut. A cell that another one
  // follows is cut at kCellWidthMax, so that one long name does not push all others aside.
  [[nodiscard]] std::string render(std::size_t indent = 0, std::size_t width_max = 0) const;
  // One tab between cells: what `cut` and `awk` expect. Tabs and line ends within a cell must have
  // been escaped.
  [[nodiscard]] std::string render_tabs() const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace xtts::report
