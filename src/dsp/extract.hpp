// FeatureExtractor: PCM + FeatureConfig -> frames [frames, channels], float32, row-major: log-mels,
// the bins of the spectrum themselves, each frame's energy.
//
// Framing, scaling and packing: see formats/feature_config.hpp for the chain; the forward transform
// is unscaled, X[k] = sum x[n] w[n] exp(-2 pi i k n / n_fft), as numpy, librosa and torch have it.
// One thread at a time; share nothing; one per worker. Plans are made at creation (serialised
// inside: FFTW plans on one thread only) and do not vary from run to run.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dsp/isa.hpp"
#include "formats/recipe_fwd.hpp"
#include "formats/sound_columns.hpp"
#include "xtts/status.hpp"

namespace xtts::dsp {

// Where each column's frames go, row-major; empty: they are not wanted.
//   mel     [frames, channels]
//   linear  [frames, n_fft / 2 + 1]: the spectrum, before the filters
//   energy  [frames]: the L2 norm of the magnitudes
using FrameRows = formats::BySoundColumn<std::span<float>>;

struct Extracted {
  std::uint32_t frame_count = 0;
  formats::BySoundColumn<float> fills;  // of the record's further frames
};

class FeatureExtractor {
 public:
  // kInvalidArgument: the config does not validate, or the processor lacks `isa`.
  [[nodiscard]] static Result<FeatureExtractor> create(const formats::FeatureConfig& config,
                                                       Isa isa = Isa::kBest);
  ~FeatureExtractor();
  FeatureExtractor(FeatureExtractor&&) noexcept;
  FeatureExtractor& operator=(FeatureExtractor&&) noexcept;

  // Frames that `sample_count` samples make, before any cut to max_frames; those of its padding
  // alone are not counted.
  [[nodiscard]] std::uint64_t frame_count(std::uint64_t sample_count) const;

  // A clip's first samples that make its first `frame_count` frames what they are; the clip may end
  // before.
  [[nodiscard]] std::uint64_t samples_of(std::uint64_t frame_count) const;

  // Writes as many frames as there are, or as `rows` has room for, to the front of each; what lies
  // behind them is left alone (padding is the caller's). Mels only where the config asks for that
  // column. kBadInput when the clip is too short for its padding (reflect needs more samples than
  // half a window) or makes no frame, and when a mel before the logarithm is not finite: samples of
  // 1e17 have a power that float32 cannot hold. The other rows are the caller's to look at.
  [[nodiscard]] Result<Extracted> extract(std::span<const float> samples, const FrameRows& rows);
  [[nodiscard]] Result<Extracted> extract(std::span<const float> samples, std::span<float> mel) {
    FrameRows rows;
    rows[formats::SoundColumn::kMel] = mel;
    return extract(samples, rows);
  }

 private:
  struct Impl;
  explicit FeatureExtractor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The libraries and instruction set that decide the numbers, for `numerics`:
// "fftw-3.3.10-sse2-avx-avx2-..., avx2".
[[nodiscard]] std::string feature_libraries(Isa isa);

}  // namespace xtts::dsp
