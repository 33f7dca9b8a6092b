#include "report/chart_drawing.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "report/html_text.hpp"
#include "report/human.hpp"
#include "report/svg.hpp"

namespace xtts::report {

std::string with_unit(double value, const std::string& unit) {
  return format_any(value) + (unit.empty() ? "" : " " + unit);
}

std::vector<ChartLevel> drawable_levels(const std::vector<ChartLevel>& levels) {
  std::vector<ChartLevel> found;
  for (const ChartLevel& level : levels) {
    if (is_drawable(level.at)) found.push_back({level.name, bounded(level.at)});
  }
  return found;
}

void add_level_rows(const std::vector<ChartLevel>& levels, const std::string& unit,
                    Drawing& drawing) {
  for (const ChartLevel& level : levels)
    drawing.rows.emplace_back(level.name, with_unit(level.at, unit));
}

void add_figures(const std::vector<double>& values, const std::string& unit, Drawing& drawing) {
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  // The smallest value that the share does not exceed, as report::summarize_times has it.
  const auto quantile = [&](double share) {
    const double rank = std::ceil(share * static_cast<double>(sorted.size())) - 1.0;
    return sorted[static_cast<std::size_t>(std::max(rank, 0.0))];
  };
  const double mean = mean_of_chart(values);
  drawing.rows = {{"values", format_count(values.size())},
                  {"smallest", with_unit(sorted.front(), unit)},
                  {"half are at most", with_unit(quantile(0.5), unit)},
                  {"mean", with_unit(mean, unit)},
                  {"95 % are at most", with_unit(quantile(0.95), unit)},
                  {"largest", with_unit(sorted.back(), unit)}};
  drawing.description = format_counted(values.size(), "value", "values") + " from " +
                        format_any(sorted.front()) + " to " + with_unit(sorted.back(), unit) +
                        ", " + with_unit(mean, unit) + " on average.";
}

std::string y_axis(const Plot& plot, const std::string& unit) {
  std::string svg;
  for (const double tick : ticks_of(plot.y)) {
    svg += svg_line(kLeft, plot.y_of(tick), kRight, plot.y_of(tick), "axis") +
           svg_text(kLeft - 5.0, plot.y_of(tick) + 3.5, tick_label(tick), "small", "end");
  }
  if (!unit.empty())
    svg += svg_text(kLeft - 5.0, plot.top - 8.0, fitting(unit, kLeft - 5.0), "small", "end");
  return svg;
}

}  // namespace xtts::report
