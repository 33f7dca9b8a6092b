// Draws horizontal bars, each with its label and its value above it.
#include <algorithm>
#include <cstddef>
#include <optional>

#include "report/chart_drawing.hpp"
#include "report/html_text.hpp"
#include "report/human.hpp"
#include "report/svg.hpp"

namespace xtts::report {
namespace {

constexpr std::size_t kBarsShown = 40;

std::string bar_in_words(const ChartBar& bar, const std::string& unit) {
  const bool has_range = bar.low && bar.high && is_drawable(*bar.low) && is_drawable(*bar.high);
  const std::string value = with_unit(bar.value, unit);
  if (!has_range || *bar.low == *bar.high) return value;
  return value + " (" + format_any(*bar.low) + " to " + format_any(*bar.high) + ")";
}

std::string bar_row(const ChartBar& bar, const std::string& unit, const Scale& scale, double top) {
  const double width = kChartWidth - 4.0;
  const auto x_of = [&](double value) { return 2.0 + scale.share(bounded(value)) * width; };
  const std::string value = fitting(bar_in_words(bar, unit), kChartWidth * 0.6);
  const double value_width = 1.12 * text_width(value) + 12.0;  // it is bold
  std::string svg = svg_text(2.0, top + 11.0, fitting(bar.label, kChartWidth - value_width)) +
                    svg_text(kChartWidth - 2.0, top + 11.0, value, "strong", "end");
  const double from = x_of(std::min(bar.value, 0.0));
  svg += svg_rect(2.0, top + 17.0, width, 11.0, "band") +
         svg_rect(from, top + 17.0, std::max(x_of(std::max(bar.value, 0.0)) - from, 1.0), 11.0,
                  "mark-soft");
  svg += svg_rect(x_of(bar.value) - 1.0, top + 17.0, 2.0, 11.0, "mark");
  if (bar.low && bar.high && is_drawable(*bar.low) && is_drawable(*bar.high)) {
    const std::string low = svg_number(x_of(*bar.low));
    svg += "<path d=\"M" + low + " " + svg_number(top + 19.0) + "v7M" + low + " " +
           svg_number(top + 22.5) + "H" + svg_number(x_of(*bar.high)) +
           "m0 -3.5v7\" class=\"range\"/>";
  }
  return svg;
}

}  // namespace

Drawing draw(const BarsChart& chart) {
  std::vector<ChartBar> bars;
  std::vector<double> all;
  for (const ChartBar& bar : chart.bars) {
    if (!is_drawable(bar.value)) continue;
    bars.push_back(bar);
    bars.back().value = bounded(bar.value);
    for (const auto& value : {std::optional(bar.value), bar.low, bar.high})
      if (value && is_drawable(*value)) all.push_back(bounded(*value));
  }
  if (bars.empty()) return {};
  const std::vector<ChartLevel> levels = drawable_levels(chart.levels);
  for (const ChartLevel& level : levels) all.push_back(level.at);
  const Scale scale = scale_from_zero(all);
  Drawing drawing;
  for (const ChartBar& bar : bars)
    drawing.rows.emplace_back(bar.label, bar_in_words(bar, chart.unit));
  add_level_rows(levels, chart.unit, drawing);
  double top = 0.0;
  for (std::size_t i = 0; i < std::min(bars.size(), kBarsShown); ++i) {
    drawing.svg += bar_row(bars[i], chart.unit, scale, top);
    top += 36.0;
  }
  for (const ChartLevel& level : levels) {
    const double x = 2.0 + scale.share(level.at) * (kChartWidth - 4.0);
    for (std::size_t i = 0; i < std::min(bars.size(), kBarsShown); ++i) {
      const double bar_top = 36.0 * static_cast<double>(i) + 14.0;
      drawing.svg += svg_line(x, bar_top, x, bar_top + 17.0, "level-line");
    }
    const bool is_right = x > kChartWidth / 2.0;
    drawing.svg += svg_text(is_right ? x - 4.0 : x + 4.0, top + 8.0,
                            fitting(level.name, (is_right ? x : kChartWidth - x) - 8.0), "level",
                            is_right ? "end" : "start");
    top += kLineHeight;
  }
  if (bars.size() > kBarsShown)
    drawing.remark = "The first " + format_count(kBarsShown) + " of " + format_count(bars.size()) +
                     " are drawn.";
  const bool has_range = std::ranges::any_of(
      bars, [](const ChartBar& bar) { return bar.low && bar.high && *bar.low != *bar.high; });
  drawing.description = format_counted(bars.size(), "bar", "bars") + ": ";
  for (std::size_t i = 0; i < std::min<std::size_t>(bars.size(), 4); ++i)
    drawing.description += (i == 0 ? "" : "; ") + bars[i].label + " " + drawing.rows[i].second;
  drawing.description += bars.size() > 4 ? "; and more." : ".";
  if (has_range && drawing.remark.empty())
    drawing.remark = "A line with ends is the range in which the value lies.";
  drawing.height = top + 2.0;
  return drawing;
}

}  // namespace xtts::report
