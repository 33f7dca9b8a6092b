// The colours of pictures: magma, by Stéfan van der Walt and Nathaniel Smith (CC0), which people
// who look at spectrograms know. Equal differences of a value look equally large, in grey print
// too. Immutable, share freely.
#pragma once

#include <cstdint>

namespace xtts::draw {

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  friend bool operator==(const Rgb&, const Rgb&) = default;
};

// `level` from 0 (dark) to 255 (bright); grey where it is below 0.
[[nodiscard]] Rgb magma(std::int16_t level);

}  // namespace xtts::draw
