#include "report/batch_plot.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "report/canvas.hpp"
#include "report/human.hpp"
#include "report/ticks.hpp"

namespace xtts::report {
namespace {

constexpr Rgb kBar{58, 110, 165};
constexpr Rgb kMean{200, 60, 40};
constexpr int kLeftMargin = 110;
constexpr int kRightMargin = 170;
constexpr int kTopMargin = 56;
constexpr int kBottomMargin = 64;
constexpr int kPlotWidth = 900;
constexpr int kPlotHeight = 300;
constexpr int kScale = 2;

// The axis ends a little above the slowest batch. If a few batches are far off, the axis is
// shorter and their columns reach the frame.
double top_of_axis(const BatchTimes& times, std::span<const double> ms) {
  const double slowest = *std::ranges::max_element(ms);
  const double top = std::min(slowest, 4.0 * std::max(times.p95_ms, times.mean_ms));
  return std::max(top * 1.1, 1e-6);
}

int y_of(double ms, double top) {
  return kTopMargin + kPlotHeight -
         static_cast<int>(std::lround(std::min(ms / top, 1.0) * kPlotHeight));
}

struct Level {
  const char* name;
  double ms;
  Rgb colour;
};

// Each name stands beside its line, or as near as possible without touching another name.
void draw_levels(Canvas& canvas, double top, std::vector<Level> levels) {
  std::ranges::sort(levels, std::ranges::greater(), &Level::ms);
  const int row = text_height(kScale) + 4;
  int free_y = kTopMargin - row / 2;  // the next name's top is here or below
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Level& level = levels[i];
    const int y = y_of(level.ms, top);
    canvas.fill(kLeftMargin, y, kPlotWidth, 1, level.colour);
    const int below = static_cast<int>(levels.size() - 1 - i) * row;  // room for later names
    const int last_y = kTopMargin + kPlotHeight - row / 2 - below;
    const int text_y = std::min(std::max(y - text_height(kScale) / 2, free_y), last_y);
    canvas.text(kLeftMargin + kPlotWidth + 8, text_y,
                std::string(level.name) + " " + format_short(level.ms), level.colour, kScale);
    free_y = text_y + row;
  }
}

}  // namespace

Result<std::string> draw_batch_times(std::span<const double> ms, const std::string& title) {
  Canvas canvas(kLeftMargin + kPlotWidth + kRightMargin, kTopMargin + kPlotHeight + kBottomMargin,
                kPaper);
  canvas.text(kLeftMargin, 20, title, kInk, kScale);
  if (ms.empty()) return canvas.to_png();
  const BatchTimes times = summarize_times(ms);
  const double top = top_of_axis(times, ms);
  const auto count = static_cast<double>(ms.size());
  for (int x = 0; x < kPlotWidth; ++x) {
    const auto first = static_cast<std::size_t>(x * count / kPlotWidth);
    const auto end = std::max(static_cast<std::size_t>((x + 1) * count / kPlotWidth), first + 1);
    const double slowest = *std::max_element(ms.begin() + static_cast<std::ptrdiff_t>(first),
                                             ms.begin() + static_cast<std::ptrdiff_t>(end));
    const int height = static_cast<int>(std::lround(std::min(slowest / top, 1.0) * kPlotHeight));
    canvas.fill(kLeftMargin + x, kTopMargin + kPlotHeight - height, 1, height, kBar);
  }
  draw_levels(canvas, top, {{"mean", times.mean_ms, kMean}, {"p95", times.p95_ms, kSoftInk}});
  canvas.frame(kLeftMargin - 1, kTopMargin - 1, kPlotWidth + 2, kPlotHeight + 2, kInk);
  for (const Tick& tick : linear_ticks(0.0, top, 6)) {
    const int y = y_of(tick.value, top);
    canvas.fill(kLeftMargin - 7, y, 6, 1, kInk);
    canvas.text(kLeftMargin - 12 - text_width(tick.label, kScale), y - text_height(kScale) / 2,
                tick.label, kInk, kScale);
  }
  // Batches count from 1 in whole numbers. Each number stands under its column's middle.
  for (const Tick& tick : count_ticks(ms.size(), 10)) {
    const int x =
        kLeftMargin + static_cast<int>(std::lround((tick.value - 0.5) / count * kPlotWidth));
    canvas.fill(x, kTopMargin + kPlotHeight + 1, 1, 6, kInk);
    canvas.text(x - text_width(tick.label, kScale) / 2, kTopMargin + kPlotHeight + 12, tick.label,
                kInk, kScale);
  }
  canvas.text_upwards(12, kTopMargin + kPlotHeight, "ms a batch", kSoftInk, kScale);
  canvas.text(kLeftMargin, kTopMargin + kPlotHeight + 38, "batch", kSoftInk, kScale);
  return canvas.to_png();
}

}  // namespace xtts::report
