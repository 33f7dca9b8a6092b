#include "report/mel_figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "report/human.hpp"

namespace xtts::report {
namespace {

using figure::HeatMap;

constexpr double kWidthMin = 480.0;
constexpr double kWidthMax = 1200.0;
constexpr double kPointsPerSecond = 110.0;
constexpr double kStep = 0.5;  // a pixel of a PNG, in points

// Returns the plot's width. A frame has a whole number of pixels where possible: uneven columns
// would look like a fault of the sound.
double plan_width(const MelPicture& picture) {
  const auto frames = static_cast<double>(picture.frame_count);
  const double wanted =
      std::clamp(frames * picture.frame_s * kPointsPerSecond, kWidthMin, kWidthMax);
  const double whole = std::max(1.0, std::ceil(wanted / frames / kStep)) * kStep;
  return frames * whole <= kWidthMax ? frames * whole : wanted;
}

double plan_height(const MelPicture& picture) {
  const auto mels = static_cast<double>(picture.mel_count);
  return std::min(mels * std::clamp(std::round(280.0 / mels / kStep), 1.0, 48.0) * kStep, 480.0);
}

std::pair<double, double> value_range(const MelPicture& picture) {
  std::vector<float> sorted;
  sorted.reserve(picture.values.size());
  std::copy_if(picture.values.begin(), picture.values.end(), std::back_inserter(sorted),
               [](float value) { return std::isfinite(value); });
  if (sorted.empty()) return {0.0, 1.0};
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double share) {
    return double{sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))]};
  };
  const double low = at(0.001);
  const double high = at(0.999);
  // Silence has one value; a colour bar needs two.
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low > 1e-6 * size) return {low, high};
  const double half = std::max(0.5, 1e-3 * size);
  return {low - half, high + half};
}

struct Run {
  std::size_t begin, end;
};

// Returns the i-th of `part_count` parts of `whole`, which are as long as each other, or one
// longer.
Run part_of(std::size_t whole, std::size_t part_count, std::size_t i) {
  return {i * whole / part_count, (i + 1) * whole / part_count};
}

// Returns the level of the mean of these values.
std::int16_t level_of(const MelPicture& picture, const HeatMap& map, Run frames, Run mels) {
  double sum = 0.0;
  for (std::size_t f = frames.begin; f < frames.end; ++f) {
    for (std::size_t mel = mels.begin; mel < mels.end; ++mel)
      sum += double{picture.values[f * picture.mel_count + mel]};
  }
  const double mean =
      sum / static_cast<double>((frames.end - frames.begin) * (mels.end - mels.begin));
  if (std::isnan(mean)) return figure::kNoValue;
  const double share = std::clamp((mean - map.low) / (map.high - map.low), 0.0, 1.0);
  return static_cast<std::int16_t>(std::lround(share * 255.0));
}

HeatMap make_map(const MelPicture& picture, double width, double height) {
  const auto [low, high] = value_range(picture);
  HeatMap map{
      .column_count = std::min(picture.frame_count, static_cast<std::size_t>(width / kStep)),
      .row_count = std::min(picture.mel_count, static_cast<std::size_t>(height / kStep)),
      .levels = {},
      .value_name = picture.value_unit,
      .low = low,
      .high = high};
  for (std::size_t column = 0; column < map.column_count; ++column) {
    const Run frames = part_of(picture.frame_count, map.column_count, column);
    for (std::size_t row = 0; row < map.row_count; ++row) {
      const Run mels = part_of(picture.mel_count, map.row_count, row);
      map.levels.push_back(level_of(picture, map, frames, mels));
    }
  }
  return map;
}

// Familiar frequencies, the round ones first: the others get a label where there is room.
std::vector<figure::Tick> frequency_ticks(const MelPicture& picture) {
  constexpr std::array<double, 22> kByImportance{1000, 2000,  4000,  8000, 500,  16000, 200, 100,
                                                 0,    3000,  6000,  5000, 1500, 10000, 700, 300,
                                                 50,   12000, 20000, 7000, 2500, 15000};
  std::vector<figure::Tick> ticks;
  for (const double hz : kByImportance) {
    if (hz < picture.low_hz || hz > picture.high_hz) continue;
    // Channel c is drawn from c to c + 1, so its frequency belongs in the middle.
    const double at = picture.channel_of_hz(hz) + 0.5;
    if (at < 0.0 || at > static_cast<double>(picture.mel_count)) continue;
    ticks.push_back({at, format_count(static_cast<std::uint64_t>(hz))});
  }
  return ticks;
}

}  // namespace

Result<figure::Figure> mel_figure(const MelPicture& picture) {
  if (picture.frame_count == 0 || picture.mel_count == 0 ||
      picture.values.size() != picture.frame_count * picture.mel_count ||
      !(picture.frame_s > 0.0) || !picture.channel_of_hz) {
    return Status(StatusCode::kInvalidArgument, "there are no frames to draw");
  }
  const double seconds = static_cast<double>(picture.frame_count) * picture.frame_s;
  figure::Panel panel;
  panel.width = plan_width(picture);
  panel.height = plan_height(picture);
  panel.x = {.name = "time (s)", .high = seconds, .ticks = {}};
  panel.y = {.name = "frequency (Hz)",
             .high = static_cast<double>(picture.mel_count),
             .ticks = frequency_ticks(picture)};
  panel.heat_map = make_map(picture, panel.width, panel.height);
  return figure::Figure{.title = picture.title,
                        .aside = format_fixed(seconds, 2) + " s, " +
                                 format_counted(picture.frame_count, "frame", "frames"),
                        .subtitle = picture.subtitle,
                        .panels = {std::move(panel)}};
}

}  // namespace xtts::report
