#include "dsp/window.hpp"

#include "formats/frame_config.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace xtts::dsp {
namespace {

double value_of(formats::WindowKind kind, double cosine) {
  switch (kind) {
    case formats::WindowKind::kHann:
      return 0.5 - 0.5 * cosine;
    case formats::WindowKind::kHamming:
      return 0.54 - 0.46 * cosine;
    case formats::WindowKind::kPovey:
      return std::pow(0.5 - 0.5 * cosine, 0.85);
  }
  return 0.0;
}

}  // namespace

std::vector<double> make_window(const formats::StftConfig& config) {
  const std::size_t win = config.win_samples;
  const std::size_t left = formats::window_start(config);
  std::vector<double> window(config.n_fft, 0.0);
  if (win == 1) {
    window[left] = 1.0;
    return window;
  }
  const bool periodic = config.symmetry == formats::WindowSymmetry::kPeriodic &&
                        config.window != formats::WindowKind::kPovey;
  const double period = static_cast<double>(periodic ? win : win - 1);
  for (std::size_t n = 0; n < win; ++n) {
    const double phase = 2.0 * std::numbers::pi * static_cast<double>(n) / period;
    window[left + n] = value_of(config.window, std::cos(phase));
  }
  return window;
}

}  // namespace xtts::dsp
