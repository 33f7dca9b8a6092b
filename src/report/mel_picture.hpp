// A picture of one record's mel spectrogram: title, seconds, hertz, a colour bar. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "xtts/status.hpp"

namespace xtts::report {

struct MelPicture {
  std::span<const float> values;  // [frame_count, mel_count]
  std::size_t frame_count = 0;
  std::size_t mel_count = 0;
  double frame_s = 0.0;  // seconds from frame to frame
  // Where a frequency lies between the first (0) and the last (mel_count - 1) channel, as a channel
  // number with a fraction.
  std::function<double(double hz)> channel_of_hz;
  double low_hz = 0.0;
  double high_hz = 0.0;
  std::string title;       // the id
  std::string subtitle;    // what was said; left out where the picture's font cannot write it
  std::string value_unit;  // "ln magnitude"
};

// A PNG. The lowest frequency is at the bottom. Short clips get wider frames, long ones are
// averaged down, so that every picture is between 560 and 1,600 pixels wide. Colours span the
// values between their 0.1 and 99.9 per cent points: one odd value does not darken the rest.
// kInvalidArgument where there is nothing to draw.
[[nodiscard]] Result<std::string> render_mel_png(const MelPicture& picture);

}  // namespace xtts::report
