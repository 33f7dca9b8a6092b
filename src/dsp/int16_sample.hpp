// to_int16: a sample as 16-bit files have it. Full scale is 32,768, so that what such a file held
// comes out as it was; what is beyond stops there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace xtts::dsp {

[[nodiscard]] inline std::int16_t to_int16(float sample) {
  return static_cast<std::int16_t>(std::lrint(std::clamp(sample * 32768.0F, -32768.0F, 32767.0F)));
}

}  // namespace xtts::dsp
