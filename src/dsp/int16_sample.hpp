// to_int16: a sample as in 16-bit files. Full scale is 32,768, so that samples from such a file
// come out unchanged. Larger samples are cut at full scale.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace xtts::dsp {

[[nodiscard]] inline std::int16_t to_int16(float sample) {
  return static_cast<std::int16_t>(std::lrint(std::clamp(sample * 32768.0F, -32768.0F, 32767.0F)));
}

}  // namespace xtts::dsp
