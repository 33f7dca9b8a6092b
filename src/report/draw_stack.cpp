// Draws the parts of a whole, as one bar with a list of them below.
#include <algorithm>
#include <cstddef>

#include "report/chart_drawing.hpp"
#include "report/human.hpp"
#include "report/svg.hpp"

namespace xtts::report {
namespace {

constexpr std::size_t kPartsShown = 12;
constexpr std::size_t kPartColours = 6;

std::vector<ChartPart> shown_parts(const StackChart& chart) {
  std::vector<ChartPart> parts;
  for (const ChartPart& part : chart.parts) {
    if (!is_drawable(part.value)) continue;
    const double value = std::clamp(part.value, 0.0, kLargest / 1e6);
    if (parts.size() == kPartsShown) {
      parts.back().label = "all others";
      parts.back().value += value;
    } else {
      parts.push_back({part.label, value});
    }
  }
  return parts;
}

}  // namespace

Drawing draw(const StackChart& chart) {
  const std::vector<ChartPart> parts = shown_parts(chart);
  double whole = 0.0;
  for (const ChartPart& part : parts) whole += part.value;
  if (!(whole > 0.0)) return {};
  Drawing drawing;
  double x = 2.0;
  double y = 46.0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const std::string colour = "part-" + std::to_string(i % kPartColours + 1);
    const double share = parts[i].value / whole;
    const double width = share * (kChartWidth - 4.0);
    drawing.svg += svg_rect(x, 2.0, width - 1.0, 26.0, colour);
    if (width >= 18.0) drawing.svg += svg_text(x + width / 2.0, 19.0, number, "on-part", "middle");
    x += width;
    const std::string value = fitting(
        with_unit(parts[i].value, chart.unit) + ", " + format_percent(share), kChartWidth * 0.5);
    const double value_width = 1.12 * text_width(value) + 34.0;  // it is bold
    drawing.svg += svg_rect(2.0, y - 10.0, 16.0, 13.0, colour) +
                   svg_text(10.0, y, number, "on-part", "middle") +
                   svg_text(24.0, y, fitting(parts[i].label, kChartWidth - value_width)) +
                   svg_text(kChartWidth - 2.0, y, value, "strong", "end");
    y += 17.0;
    drawing.rows.emplace_back(parts[i].label, value);
    drawing.description += (i == 0 ? "" : "; ") + parts[i].label + " " + value;
  }
  drawing.description += '.';
  drawing.rows.emplace_back("in all", with_unit(whole, chart.unit));
  drawing.height = y - 8.0;
  return drawing;
}

}  // namespace xtts::report
