// Analysis windows in double precision. Immutable values; no failure.
#pragma once

#include <vector>

#include "formats/recipe_fwd.hpp"

namespace xtts::dsp {

// The window has win_samples values in n_fft, with zeros around them ((n_fft - win) / 2 on the
// left, rounded down, as in librosa and torch). With Kaldi's framing (snip_edges, keep_edges) the
// zeros follow the window.
//   hann     0.5 - 0.5 cos(2 pi n / win), or over win - 1 where it is symmetric
//   hamming  0.54 - 0.46 cos, likewise
//   povey    the symmetric Hann to the power of 0.85
[[nodiscard]] std::vector<double> make_window(const formats::StftConfig& config);

}  // namespace xtts::dsp
