// The colours of pictures: 256 steps from near black over violet, red and orange to a pale yellow,
// at equal distances in OKLab (Björn Ottosson, 2020), so that equal differences of a value look
// equally large, in grey print and to colour-blind eyes too: lightness rises with every step. The
// path is ours: lightness and hue run linearly, chroma is a half sine, with its constants found by
// a search for the largest chroma inside sRGB. Immutable, share freely.
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
