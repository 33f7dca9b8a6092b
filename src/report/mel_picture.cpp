#include "report/mel_picture.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/utf8.hpp"
#include "report/canvas.hpp"
#include "report/human.hpp"
#include "report/ticks.hpp"

namespace xtts::report {
namespace {

constexpr int kLeft = 92;
constexpr int kRight = 128;
constexpr int kTop = 68;
constexpr int kBottom = 62;
constexpr int kTickLength = 6;
constexpr int kLabelScale = 2;
constexpr int kPlotWidthMin = 480;
constexpr int kPlotWidthMax = 1380;
constexpr double kPixelsPerSecond = 150.0;

struct Plot {
  int x, y, width, height;
};

struct ValueRange {
  double low = 0.0;
  double high = 1.0;
};

Plot plan_plot(const MelPicture& picture) {
  const auto frames = static_cast<double>(picture.frame_count);
  double width = std::clamp(frames * picture.frame_s * kPixelsPerSecond, double{kPlotWidthMin},
                            double{kPlotWidthMax});
  // A frame has a whole number of pixels where possible: uneven columns would look like a fault of
  // the sound.
  const double whole = std::max(1.0, std::ceil(width / frames));
  if (frames * whole <= kPlotWidthMax) width = std::max(frames * whole, 2.0 * kPlotWidthMin / 3.0);
  const auto mels = static_cast<double>(picture.mel_count);
  const double height = mels * std::clamp(std::round(360.0 / mels), 1.0, 24.0);
  return {kLeft, kTop, static_cast<int>(width), static_cast<int>(std::min(height, 640.0))};
}

ValueRange value_range(const MelPicture& picture) {
  std::vector<float> sorted;
  sorted.reserve(picture.values.size());
  std::copy_if(picture.values.begin(), picture.values.end(), std::back_inserter(sorted),
               [](float value) { return std::isfinite(value); });
  if (sorted.empty()) return {};
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double share) {
    return double{sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))]};
  };
  ValueRange range{at(0.001), at(0.999)};
  // Silence has one value; a colour bar needs two.
  if (range.high - range.low < 1e-6) range = {range.low - 0.5, range.high + 0.5};
  return range;
}

// Returns the mean of the values that fall on one pixel. If there are more pixels than values,
// channels and frames are cells with sharp edges.
double pixel_value(const MelPicture& picture, double frame_begin, double frame_end,
                   double channel_begin, double channel_end) {
  const auto cells = [](double begin, double end, std::size_t count) {
    const double middle = (begin + end) / 2.0;
    const bool covers_several = end - begin > 1.0;
    const double first = std::floor(covers_several ? begin : middle);
    const double last = covers_several ? std::ceil(end) - 1.0 : first;
    const double limit = static_cast<double>(count) - 1.0;
    return std::pair(static_cast<std::size_t>(std::clamp(first, 0.0, limit)),
                     static_cast<std::size_t>(std::clamp(last, 0.0, limit)));
  };
  const auto [f0, f1] = cells(frame_begin, frame_end, picture.frame_count);
  const auto [c0, c1] = cells(channel_begin, channel_end, picture.mel_count);
  double sum = 0.0;
  for (std::size_t f = f0; f <= f1; ++f) {
    for (std::size_t c = c0; c <= c1; ++c) sum += double{picture.values[f * picture.mel_count + c]};
  }
  return sum / static_cast<double>((f1 - f0 + 1) * (c1 - c0 + 1));
}

void draw_values(const MelPicture& picture, const Plot& plot, const ValueRange& range,
                 Canvas& canvas) {
  const double frames_per_pixel = static_cast<double>(picture.frame_count) / plot.width;
  const double channels_per_pixel = static_cast<double>(picture.mel_count) / plot.height;
  for (int y = 0; y < plot.height; ++y) {
    const int from_bottom = plot.height - 1 - y;
    for (int x = 0; x < plot.width; ++x) {
      const double value =
          pixel_value(picture, x * frames_per_pixel, (x + 1) * frames_per_pixel,
                      from_bottom * channels_per_pixel, (from_bottom + 1) * channels_per_pixel);
      canvas.set(plot.x + x, plot.y + y, colour_at((value - range.low) / (range.high - range.low)));
    }
  }
  canvas.frame(plot.x - 1, plot.y - 1, plot.width + 2, plot.height + 2, kInk);
}

void draw_time_axis(const MelPicture& picture, const Plot& plot, Canvas& canvas) {
  const double end_s = static_cast<double>(picture.frame_count) * picture.frame_s;
  const int below = plot.y + plot.height + 1;
  for (const Tick& tick : linear_ticks(0.0, end_s, std::max(2, plot.width / 75))) {
    const int x = plot.x + static_cast<int>(std::lround(tick.value / end_s * plot.width));
    canvas.fill(x, below, 1, kTickLength, kInk);
    canvas.text(x - text_width(tick.label, kLabelScale) / 2, below + kTickLength + 4, tick.label,
                kInk, kLabelScale);
  }
  const std::string name = "time (s)";
  canvas.text(plot.x + (plot.width - text_width(name, kLabelScale)) / 2,
              below + kTickLength + 4 + text_height(kLabelScale) + 8, name, kSoftInk, kLabelScale);
}

void draw_frequency_axis(const MelPicture& picture, const Plot& plot, Canvas& canvas) {
  const double pixels_per_channel =
      static_cast<double>(plot.height) / static_cast<double>(picture.mel_count);
  // Channel c is drawn from c to c + 1, so its frequency belongs in the middle.
  const auto height_of = [&](double hz) {
    return std::clamp((picture.channel_of_hz(hz) + 0.5) * pixels_per_channel, 0.0,
                      static_cast<double>(plot.height));
  };
  const double room = text_height(kLabelScale) + 8;
  for (const Tick& tick : frequency_ticks(picture.low_hz, picture.high_hz, room, height_of)) {
    const int y = plot.y + plot.height - 1 - static_cast<int>(std::lround(height_of(tick.value)));
    canvas.fill(plot.x - 1 - kTickLength, y, kTickLength, 1, kInk);
    canvas.text(plot.x - kTickLength - 6 - text_width(tick.label, kLabelScale),
                y - text_height(kLabelScale) / 2, tick.label, kInk, kLabelScale);
  }
  const std::string name = "frequency (Hz)";
  canvas.text_upwards(10, plot.y + (plot.height + text_width(name, kLabelScale)) / 2, name,
                      kSoftInk, kLabelScale);
}

void draw_colour_bar(const MelPicture& picture, const Plot& plot, const ValueRange& range,
                     Canvas& canvas) {
  constexpr int kWidth = 16;
  const int x = plot.x + plot.width + 20;
  for (int y = 0; y < plot.height; ++y) {
    const double position = 1.0 - static_cast<double>(y) / std::max(plot.height - 1, 1);
    canvas.fill(x, plot.y + y, kWidth, 1, colour_at(position));
  }
  canvas.frame(x - 1, plot.y - 1, kWidth + 2, plot.height + 2, kInk);
  for (const Tick& tick : linear_ticks(range.low, range.high, std::max(2, plot.height / 44))) {
    const double share = (tick.value - range.low) / (range.high - range.low);
    const int y = plot.y + static_cast<int>(std::lround((1.0 - share) * (plot.height - 1)));
    canvas.fill(x + kWidth + 1, y, kTickLength, 1, kInk);
    canvas.text(x + kWidth + kTickLength + 5, y - text_height(kLabelScale) / 2, tick.label, kInk,
                kLabelScale);
  }
  canvas.text_upwards(x + kWidth + 68,
                      plot.y + (plot.height + text_width(picture.value_unit, kLabelScale)) / 2,
                      picture.value_unit, kSoftInk, kLabelScale);
}

// Returns the text in the font's characters, with "?" for a stray letter. Empty if the font lacks
// a quarter or more of them (another script).
std::string drawable(std::string_view text) {
  std::string out;
  std::size_t missing = 0;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(utf8_length_bytes(text), 1);
    const char first = text[0];
    const bool known = length == 1 && first >= ' ' && first <= '~';
    out += known ? first : (length == 1 ? ' ' : '?');
    if (!known) ++missing;
    text.remove_prefix(length);
  }
  return missing * 4 >= out.size() ? "" : out;
}

std::string cut_to(std::string text, int width, int scale) {
  const auto room = static_cast<std::size_t>(std::max(width / text_width("M", scale) * 5 / 6, 4));
  if (text.size() <= room) return text;
  return text.substr(0, room - 3) + "...";
}

void draw_titles(const MelPicture& picture, const Plot& plot, Canvas& canvas) {
  const int room = canvas.width() - plot.x - 16;
  std::string title = drawable(picture.title);
  const double end_s = static_cast<double>(picture.frame_count) * picture.frame_s;
  const std::string facts =
      format_fixed(end_s, 2) + " s, " + format_counted(picture.frame_count, "frame", "frames");
  title += (title.empty() ? "" : "   ") + facts;
  canvas.text(plot.x, 18, cut_to(title, room, kLabelScale), kInk, kLabelScale);
  canvas.text(plot.x, 42, cut_to(drawable(picture.subtitle), room, kLabelScale), kSoftInk,
              kLabelScale);
}

}  // namespace

Result<std::string> render_mel_png(const MelPicture& picture) {
  if (picture.frame_count == 0 || picture.mel_count == 0 ||
      picture.values.size() != picture.frame_count * picture.mel_count ||
      !(picture.frame_s > 0.0) || !picture.channel_of_hz) {
    return Status(StatusCode::kInvalidArgument, "there are no frames to draw");
  }
  const Plot plot = plan_plot(picture);
  const ValueRange range = value_range(picture);
  Canvas canvas(plot.x + plot.width + kRight, plot.y + plot.height + kBottom, kPaper);
  draw_values(picture, plot, range, canvas);
  draw_time_axis(picture, plot, canvas);
  draw_frequency_axis(picture, plot, canvas);
  draw_colour_bar(picture, plot, range, canvas);
  draw_titles(picture, plot, canvas);
  return canvas.to_png();
}

}  // namespace xtts::report
