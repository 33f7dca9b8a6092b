#include "report/colormap.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace xtts::report {
namespace {

struct OkLab {
  double lightness, a, b;
};

// The path before its steps are made equal; t in [0, 1]. With these constants every colour is
// inside sRGB: the margin is 0.016 at the dark end and 0.005 at the bright one.
OkLab path(double t) {
  const double hue = (270.0 + 190.0 * t) * std::numbers::pi / 180.0;
  const double chroma = 0.03 + 0.18 * std::sin(std::numbers::pi * std::pow(t, 0.9));
  return {0.18 + 0.79 * t, chroma * std::cos(hue), chroma * std::sin(hue)};
}

double distance(const OkLab& x, const OkLab& y) {
  return std::hypot(x.lightness - y.lightness, x.a - y.a, x.b - y.b);
}

std::uint8_t srgb_byte(double linear) {
  const double value =
      linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1.0 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 1.0) * 255.0));
}

Rgb to_srgb(const OkLab& colour) {
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(colour.lightness + 0.3963377774 * colour.a + 0.2158037573 * colour.b);
  const double m = cube(colour.lightness - 0.1055613458 * colour.a - 0.0638541728 * colour.b);
  const double s = cube(colour.lightness - 0.0894841775 * colour.a - 1.2914855480 * colour.b);
  return {srgb_byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          srgb_byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          srgb_byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

std::array<Rgb, 256> make_table() {
  constexpr std::size_t kFine = 4096;
  std::array<double, kFine + 1> length{};
  for (std::size_t i = 1; i <= kFine; ++i) {
    const double t = static_cast<double>(i) / kFine;
    length[i] = length[i - 1] + distance(path(t - 1.0 / kFine), path(t));
  }
  std::array<Rgb, 256> table;
  std::size_t at = 0;
  for (std::size_t step = 0; step < table.size(); ++step) {
    const double wanted = length[kFine] * static_cast<double>(step) / 255.0;
    while (at < kFine && length[at] < wanted) ++at;
    table[step] = to_srgb(path(static_cast<double>(at) / kFine));
  }
  return table;
}

}  // namespace

const std::array<Rgb, 256>& colormap() {
  static const std::array<Rgb, 256> table = make_table();
  return table;
}

Rgb colour_at(double position) {
  if (std::isnan(position)) return {128, 128, 128};
  const double step = std::clamp(position, 0.0, 1.0) * 255.0;
  return colormap()[static_cast<std::size_t>(std::lround(step))];
}

}  // namespace xtts::report
