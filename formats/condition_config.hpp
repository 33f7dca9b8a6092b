// The sections trim and loudness of FeatureConfig (feature_config.hpp): they change a clip's
// samples before framing. Plain values.
#pragma once

#include <cstdint>

#include "formats/feature_enums.hpp"

namespace xtts::formats {

struct TrimConfig {
  TrimMethod method = TrimMethod::kNone;
  double top_db = 20.0;  // below the loudest frame's RMS
  std::uint32_t frame_samples = 1024;
  std::uint32_t hop_samples = 256;
};

struct LoudnessConfig {
  LoudnessMethod method = LoudnessMethod::kNone;
  double target = 0.1;     // RMS or peak, full scale = 1; LUFS
  bool limit_peak = true;  // rms, lufs: the gain is lowered so that the peak stays at or under 1
  bool then_peak_to_one = false;  // after the gain, divide by the peak
  double rms_plus = 0.0;          // rms: added to the RMS before the division
  bool clip = false;              // last step: cut samples to full scale
  Rounding rounding = Rounding::kEachStep;
};

}  // namespace xtts::formats
