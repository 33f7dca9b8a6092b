// Draws how often which values occur, as columns over an axis of values.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "report/chart_drawing.hpp"
#include "report/svg.hpp"

namespace xtts::report {
namespace {

struct Bins {
  Scale range;
  std::vector<double> counts;
};

Bins bins_of(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  Bins bins{.range = {least, most}, .counts = {}};
  const double length_min = std::max(std::abs(least) * 1e-9, 1e-300);
  if (!(most - least > length_min)) {
    const double margin = std::max(std::abs(least) * 0.05, 1e-6);
    bins.range = {least - margin, least + margin};
  }
  const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(values.size())));
  bins.counts.assign(std::clamp<std::size_t>(root, 5, 24), 0.0);
  const auto bin_count = static_cast<double>(bins.counts.size());
  for (const double value : values) {
    const auto bin = static_cast<std::size_t>(bins.range.share(value) * bin_count);
    bins.counts[std::min(bin, bins.counts.size() - 1)] += 1.0;
  }
  return bins;
}

}  // namespace

Drawing draw(const HistogramChart& chart) {
  const std::vector<double> values = cleaned(chart.values);
  if (values.empty()) return {};
  Drawing drawing;
  add_figures(values, chart.unit, drawing);
  std::vector<ChartLevel> levels = drawable_levels(chart.levels);
  add_level_rows(levels, chart.unit, drawing);
  const Bins bins = bins_of(values);
  const Plot plot{.top = 18.0 + kLineHeight * static_cast<double>(levels.size()),
                  .y = scale_from_zero(bins.counts)};
  drawing.svg += y_axis(plot, "count");
  // A level outside of the values has only its name, with an arrow.
  const double width = (kRight - kLeft) / static_cast<double>(bins.counts.size());
  for (std::size_t i = 0; i < bins.counts.size(); ++i) {
    const double y = plot.y_of(bins.counts[i]);
    drawing.svg +=
        svg_rect(kLeft + static_cast<double>(i) * width, y, width - 1.0, plot.bottom() - y, "mark");
  }
  double text_y = 10.0;
  for (const ChartLevel& level : levels) {
    const double x = kLeft + bins.range.share(level.at) * (kRight - kLeft);
    const bool is_outside = level.at < bins.range.low || level.at > bins.range.high;
    const std::string name =
        level.name + (is_outside ? (level.at > bins.range.high ? " →" : " ←") : "");
    if (!is_outside) drawing.svg += svg_line(x, text_y + 3.0, x, plot.bottom(), "level-line");
    const bool is_right = x > (kLeft + kRight) / 2.0;
    drawing.svg += svg_text(is_right ? x - 4.0 : x + 4.0, text_y + 1.0,
                            fitting(name, (is_right ? x - kLeft : kRight - x) - 6.0), "level halo",
                            is_right ? "end" : "start");
    text_y += kLineHeight;
  }
  for (const double tick : ticks_of(bins.range)) {
    const double x = kLeft + bins.range.share(tick) * (kRight - kLeft);
    const bool is_at_end = x > kRight - 20.0;
    drawing.svg += svg_text(is_at_end ? kRight : x, plot.bottom() + 14.0, tick_label(tick), "small",
                            is_at_end ? "end" : "middle");
  }
  drawing.svg += svg_text(kRight, plot.bottom() + 27.0, fitting(chart.unit, 200.0), "small", "end");
  drawing.height = plot.bottom() + 32.0;
  return drawing;
}

}  // namespace xtts::report
