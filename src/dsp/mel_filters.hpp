// Mel filters: the triangles that turn a spectrum into mel bands. Computed in double; immutable
// values; no failure.
//
// The band edges are n_mels + 2 points equally spaced on the mel scale from f_min to f_max; filter
// m rises from edge m to edge m + 1 and falls to edge m + 2, evaluated at the bin frequencies k *
// rate / n_fft (as librosa.filters.mel and torchaudio.functional.melscale_fbanks do), or over the
// mel scale itself (triangles: mel; Kaldi and tf.signal, whose 1127 ln(1 + f / 700) is HTK's scale
// but for its unit, which cancels). Slaney's norm divides by half the width in Hz: equal area.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/feature_enums.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::dsp {

// Slaney: linear below 1 kHz (15 mel), logarithmic above (27 mel for a factor of 6.4). HTK: 2595
// log10(1 + f / 700).
[[nodiscard]] double hz_to_mel(double hz, formats::MelScale scale);
[[nodiscard]] double mel_to_hz(double mel, formats::MelScale scale);

// One filter: `weights` apply to bins first_bin, first_bin + 1, ... and are positive. A filter
// narrower than the bins can be empty; its band is then always at the log's floor, as in librosa.
struct MelFilter {
  std::uint32_t first_bin = 0;
  std::vector<double> weights;
};

[[nodiscard]] std::vector<MelFilter> make_mel_filters(const formats::MelConfig& config,
                                                      std::uint32_t sample_rate_hz,
                                                      std::uint32_t n_fft);

// The same filters in float32, laid end to end in the order in which the kernels read them.
struct MelFilterBank {
  struct Span {
    std::uint32_t first_bin = 0;
    std::uint32_t bin_count = 0;
  };
  std::vector<Span> spans;     // one a filter
  std::vector<float> weights;  // of filter 0, then of filter 1, ...
};

[[nodiscard]] MelFilterBank pack(std::span<const MelFilter> filters);

}  // namespace xtts::dsp
