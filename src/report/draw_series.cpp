// Draws one value after the other, as columns.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "report/chart_drawing.hpp"
#include "report/human.hpp"
#include "report/svg.hpp"

namespace xtts::report {
namespace {

constexpr double kColumnMin = 2.0;

// The lines' names stand at the right, one below the other where they would overlap.
std::string levels_across(const Plot& plot, std::vector<ChartLevel> levels) {
  std::ranges::stable_sort(levels, std::greater<>(), &ChartLevel::at);
  std::string svg;
  double free_y = plot.top;
  for (const ChartLevel& level : levels) {
    const double y = plot.y_of(level.at);
    const double text_y = std::max(y - 4.0, free_y);
    free_y = text_y + kLineHeight;
    svg += svg_line(kLeft, y, kRight, y, "level-line") +
           svg_text(kRight - 2.0, text_y, fitting(level.name, kRight - kLeft), "level halo", "end");
  }
  return svg;
}

// A wide band behind every second period, and a bracket over the first.
std::string period_marks(const Plot& plot, const ChartPeriod& period, std::size_t count,
                         const std::string& x_name) {
  const double unit = (kRight - kLeft) / static_cast<double>(count);
  const double length = period.length * unit;
  const double first = std::isfinite(period.first) ? std::max(period.first, 0.0) : 0.0;
  const double start = kLeft + std::fmod(first, period.length) * unit;
  std::string svg;
  if (length >= 3.0) {
    double x = start;
    while (x < kRight) {
      svg += svg_rect(x, plot.top, std::min(length, kRight - x), kPlotHeight, "band");
      x += 2.0 * length;
    }
  }
  const double end = std::min(start + length, kRight);
  const std::string length_text = format_period(period.length);
  svg += "<path d=\"M" + svg_number(start) + " " + svg_number(plot.top) + "v-5H" + svg_number(end) +
         "v5\" class=\"range\"/>";
  const std::string text = "repeats every " + length_text + (x_name.empty() ? "" : " " + x_name);
  return svg +
         svg_text(kRight, plot.top - 8.0, fitting(text, kRight - kLeft - 20.0), "strong", "end");
}

}  // namespace

Drawing draw(const SeriesChart& chart) {
  const std::vector<double> values = cleaned(chart.values);
  if (values.empty()) return {};
  Drawing drawing;
  add_figures(values, chart.unit, drawing);
  const std::vector<ChartLevel> levels = drawable_levels(chart.levels);
  add_level_rows(levels, chart.unit, drawing);
  std::vector<double> all = values;
  for (const ChartLevel& level : levels) all.push_back(level.at);
  const std::size_t count = values.size();
  const Plot plot{.top = 22.0, .y = scale_from_zero(all)};
  const bool has_period = chart.period && std::isfinite(chart.period->length) &&
                          chart.period->length >= 1.0 &&
                          chart.period->length <= static_cast<double>(count);
  if (has_period) {
    drawing.svg += period_marks(plot, *chart.period, count, chart.x_name);
    const std::string length = format_period(chart.period->length);
    drawing.rows.emplace_back("repeat every", length);
    drawing.description += " They repeat every " + length + ".";
  }
  drawing.svg += y_axis(plot, chart.unit);
  const auto column_count =
      std::min(count, static_cast<std::size_t>((kRight - kLeft) / kColumnMin));
  const double width = (kRight - kLeft) / static_cast<double>(column_count);
  for (std::size_t i = 0; i < column_count; ++i) {
    const std::size_t first = i * count / column_count;
    const std::size_t end = (i + 1) * count / column_count;
    const auto group = std::span(values).subspan(first, end - first);
    const double x = kLeft + static_cast<double>(i) * width;
    const auto column = [&](double value, std::string_view css_class) {
      const double high = plot.y_of(std::max(value, 0.0));
      return svg_rect(x, high, width * 0.85, plot.y_of(std::min(value, 0.0)) - high, css_class);
    };
    if (group.size() > 1) {
      drawing.svg += column(std::ranges::max(group), "mark-soft");
      if (std::ranges::min(group) < 0.0)
        drawing.svg += column(std::ranges::min(group), "mark-soft");
    }
    drawing.svg += column(mean_of_chart(group), "mark");
  }
  if (column_count < count)
    drawing.remark =
        "A column stands for several values: dark up to their mean, pale up to the "
        "largest.";
  drawing.svg += levels_across(plot, levels) + svg_text(kLeft, plot.bottom() + 14.0, "1", "small") +
                 svg_text(kRight, plot.bottom() + 14.0, format_count(count), "small", "end") +
                 svg_text((kLeft + kRight) / 2.0, plot.bottom() + 14.0,
                          fitting(chart.x_name, 200.0), "small", "middle");
  drawing.height = plot.bottom() + 20.0;
  return drawing;
}

}  // namespace xtts::report
