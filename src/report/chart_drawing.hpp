// Drawings of charts: one draw() for each kind of chart, and what the kinds have in common. Pure
// functions; any thread. All lengths are in units of the SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/chart.hpp"
#include "report/chart_values.hpp"

namespace xtts::report {

// A plot lies between kLeft and kRight.
inline constexpr double kChartWidth = 360.0;
inline constexpr double kLeft = 54.0;
inline constexpr double kRight = 350.0;
inline constexpr double kPlotHeight = 140.0;
inline constexpr double kLineHeight = 13.0;

// Names and values, as a table shows them.
using Rows = std::vector<std::pair<std::string, std::string>>;

// A drawing, what it shows in one sentence, and its numbers.
struct Drawing {
  double height = 0.0;
  std::string svg;
  std::string description;
  std::string remark;  // how the marks are to be read; empty: they speak for themselves
  Rows rows;
};

// Each draw() is in a file of its own, draw_series.cpp and so on. If there is nothing to draw, the
// drawing is empty.
[[nodiscard]] Drawing draw(const SeriesChart& chart);
[[nodiscard]] Drawing draw(const HistogramChart& chart);
[[nodiscard]] Drawing draw(const BarsChart& chart);
[[nodiscard]] Drawing draw(const StackChart& chart);

[[nodiscard]] std::string with_unit(double value, const std::string& unit);
[[nodiscard]] std::vector<ChartLevel> drawable_levels(const std::vector<ChartLevel>& levels);
void add_level_rows(const std::vector<ChartLevel>& levels, const std::string& unit,
                    Drawing& drawing);
// The values' key figures, as rows and as a sentence.
void add_figures(const std::vector<double>& values, const std::string& unit, Drawing& drawing);

// The frame of a plot that has a vertical axis of values.
struct Plot {
  double top = 18.0;
  Scale y;

  [[nodiscard]] double bottom() const { return top + kPlotHeight; }
  [[nodiscard]] double y_of(double value) const { return bottom() - y.share(value) * kPlotHeight; }
};

[[nodiscard]] std::string y_axis(const Plot& plot, const std::string& unit);

}  // namespace xtts::report
