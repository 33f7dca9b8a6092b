#include "dsp/window.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace xtts::dsp {

std::vector<double> make_window(const formats::StftConfig& config) {
  const std::size_t win = config.win_samples;
  const std::size_t left = (config.n_fft - win) / 2;
  std::vector<double> window(config.n_fft, 0.0);
  if (win == 1) {
    window[left] = 1.0;
    return window;
  }
  const bool periodic = config.symmetry == formats::WindowSymmetry::kPeriodic;
  const double period = static_cast<double>(periodic ? win : win - 1);
  for (std::size_t n = 0; n < win; ++n) {
    const double phase = 2.0 * std::numbers::pi * static_cast<double>(n) / period;
    window[left + n] = 0.5 - 0.5 * std::cos(phase);
  }
  return window;
}

}  // namespace xtts::dsp
