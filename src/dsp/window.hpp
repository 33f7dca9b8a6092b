// Analysis windows in double precision. Immutable values; no failure.
#pragma once

#include <vector>

#include "formats/feature_config.hpp"

namespace xtts::dsp {

// Hann of win_samples, centred in n_fft with zeros around it ((n_fft - win) / 2 on the left,
// rounded down: as librosa and torch place it). Periodic: 0.5 - 0.5 cos(2 pi n / win); symmetric:
// the same over win - 1.
[[nodiscard]] std::vector<double> make_window(const formats::StftConfig& config);

}  // namespace xtts::dsp
