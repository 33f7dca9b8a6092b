#include "report/mel_figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "report/human.hpp"

namespace xtts::report {
namespace {

using nlohmann::json;

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

// Returns two hexadecimal digits: the level of the mean of these values, 0 to 254; 255 for none.
std::string level_of(const MelPicture& picture, double low, double high, Run frames, Run mels) {
  double sum = 0.0;
  for (std::size_t f = frames.begin; f < frames.end; ++f) {
    for (std::size_t mel = mels.begin; mel < mels.end; ++mel)
      sum += double{picture.values[f * picture.mel_count + mel]};
  }
  const double mean =
      sum / static_cast<double>((frames.end - frames.begin) * (mels.end - mels.begin));
  if (std::isnan(mean)) return "ff";
  const double share = std::clamp((mean - low) / (high - low), 0.0, 1.0);
  const auto level = static_cast<std::size_t>(std::lround(share * 254.0));
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {kDigits[level / 16], kDigits[level % 16]};
}

json make_map(const MelPicture& picture, double width, double height) {
  const auto [low, high] = value_range(picture);
  const std::size_t column_count =
      std::min(picture.frame_count, static_cast<std::size_t>(width / kStep));
  const std::size_t row_count =
      std::min(picture.mel_count, static_cast<std::size_t>(height / kStep));
  json rows = json::array();
  for (std::size_t row = row_count; row-- > 0;) {
    std::string levels;
    for (std::size_t column = 0; column < column_count; ++column) {
      levels += level_of(picture, low, high, part_of(picture.frame_count, column_count, column),
                         part_of(picture.mel_count, row_count, row));
    }
    rows.push_back(std::move(levels));
  }
  return {
      {"rows", std::move(rows)}, {"value_name", picture.value_unit}, {"low", low}, {"high", high}};
}

// Familiar frequencies, the round ones first: the others get a label where there is room.
json frequency_ticks(const MelPicture& picture) {
  constexpr std::array<double, 22> kByImportance{1000, 2000,  4000,  8000, 500,  16000, 200, 100,
                                                 0,    3000,  6000,  5000, 1500, 10000, 700, 300,
                                                 50,   12000, 20000, 7000, 2500, 15000};
  json ticks = json::array();
  for (const double hz : kByImportance) {
    if (hz < picture.low_hz || hz > picture.high_hz) continue;
    // Channel c is drawn from c to c + 1, so its frequency belongs in the middle.
    const double at = picture.channel_of_hz(hz) + 0.5;
    if (at < 0.0 || at > static_cast<double>(picture.mel_count)) continue;
    ticks.push_back({{"at", at}, {"label", format_count(static_cast<std::uint64_t>(hz))}});
  }
  return ticks;
}

}  // namespace

Result<json> mel_figure(const MelPicture& picture) {
  if (picture.frame_count == 0 || picture.mel_count == 0 ||
      picture.values.size() != picture.frame_count * picture.mel_count ||
      !(picture.frame_s > 0.0) || !picture.channel_of_hz) {
    return Status(StatusCode::kInvalidArgument, "there are no frames to draw");
  }
  const double seconds = static_cast<double>(picture.frame_count) * picture.frame_s;
  const double width = plan_width(picture);
  const double height = plan_height(picture);
  json panel{{"width", width},
             {"height", height},
             {"x", {{"name", "time (s)"}, {"low", 0.0}, {"high", seconds}}},
             {"y",
              {{"name", "frequency (Hz)"},
               {"low", 0.0},
               {"high", picture.mel_count},
               {"ticks", frequency_ticks(picture)}}},
             {"heat_map", make_map(picture, width, height)}};
  return json{{"title", picture.title},
              {"aside", formatted("{} s, {}", format_fixed(seconds, 2),
                                  format_counted(picture.frame_count, "frame", "frames"))},
              {"subtitle", picture.subtitle},
              {"panels", json::array({std::move(panel)})}};
}

}  // namespace xtts::report
