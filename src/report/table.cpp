#include "report/table.hpp"

#include <algorithm>

#include "report/human.hpp"

namespace xtts::report {

void Table::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::render(std::size_t indent, std::size_t width_max) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  std::vector<std::vector<std::string>> rows = rows_;
  for (auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c + 1 < row.size()) row[c] = shorten(row[c], kCellWidthMax);
      widths[c] = std::max(widths[c], display_width(row[c]));
    }
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line(indent, ' ');
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) line += "  ";
      const std::string space(widths[c] - display_width(row[c]), ' ');
      line += columns_[c] == Align::kRight ? space + row[c] : row[c] + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += (width_max == 0 ? line : shorten(line, width_max)) + "\n";
  }
  return out;
}

std::string Table::render_tabs() const {
  std::string out;
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) out += (c == 0 ? "" : "\t") + row[c];
    out += '\n';
  }
  return out;
}

}  // namespace xtts::report
