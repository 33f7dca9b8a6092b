// A record's mel spectrogram as a figure in JSON (src/python/xtts_advise/picture/README.md). Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "xtts/status.hpp"

namespace xtts::report {

struct MelPicture {
  std::span<const float> values;  // [frame_count, mel_count]
  std::size_t frame_count = 0;
  std::size_t mel_count = 0;
  double frame_s = 0.0;  // seconds from frame to frame
  // Returns the place of a frequency as a channel number with a fraction. Frequencies beyond the
  // first (0) and the last channel (mel_count - 1) get no label.
  std::function<double(double hz)> channel_of_hz;
  double low_hz = 0.0;
  double high_hz = 0.0;
  std::string title;       // the id
  std::string subtitle;    // the clip's text, in any script
  std::string value_unit;  // "ln magnitude"
};

// The lowest frequency is at the bottom. Short clips get wider frames and long ones are averaged
// down, so every plot is 480 to 1,200 points wide. Colours span the values between their 0.1 and
// 99.9 per cent points, so one odd value does not darken the rest. kInvalidArgument where there is
// nothing to draw.
[[nodiscard]] Result<nlohmann::json> mel_figure(const MelPicture& picture);

}  // namespace xtts::report
