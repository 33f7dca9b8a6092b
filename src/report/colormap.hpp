// The colours of pictures: magma, by Stéfan van der Walt and Nathaniel Smith (CC0), which people
// who look at spectrograms know. Equal differences of a value look equally large, in grey print
// too. Immutable, share freely.
#pragma once

#include <array>
#include <cstdint>

namespace xtts::report {

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  friend bool operator==(const Rgb&, const Rgb&) = default;
};

[[nodiscard]] const std::array<Rgb, 256>& colormap();
// `position` in [0, 1]; what lies outside takes the end's colour, NaN is grey.
[[nodiscard]] Rgb colour_at(double position);

}  // namespace xtts::report
