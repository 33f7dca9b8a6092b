// FeatureExtractor: turns PCM into frames [frames, channels], float32, row-major, as its
// FeatureConfig says: log-mels, the bins of the spectrum, and each frame's energy.
//
// formats/feature_config.hpp has the chain of framing, scaling and packing. The forward transform
// is unscaled, X[k] = sum x[n] w[n] exp(-2 pi i k n / n_fft), as in numpy, librosa and torch. One
// thread at a time; nothing is shared; each worker has its own. Plans are made at creation
// (serialised inside: FFTW plans on one thread only) and do not vary from run to run.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dsp/frame_engine.hpp"
#include "dsp/isa.hpp"
#include "formats/recipe_fwd.hpp"
#include "formats/sound_columns.hpp"
#include "xtts/status.hpp"

namespace xtts::dsp {

struct Extracted {
  std::uint32_t frame_count = 0;
  formats::BySoundColumn<float> fills;  // padding values for the record's further frames
};

class FeatureExtractor {
 public:
  // kInvalidArgument: the config does not validate, or the processor lacks `isa`.
  [[nodiscard]] static Result<FeatureExtractor> create(const formats::FeatureConfig& config,
                                                       Isa isa = Isa::kBest);
  // The frames are computed where `engines` says. Fails as they do, too.
  [[nodiscard]] static Result<FeatureExtractor> create(const formats::FeatureConfig& config,
                                                       const FrameEngines& engines);
  ~FeatureExtractor();
  FeatureExtractor(FeatureExtractor&&) noexcept;
  FeatureExtractor& operator=(FeatureExtractor&&) noexcept;

  // The number of frames of `sample_count` samples, before any cut to max_frames. Frames of padding
  // alone do not count.
  [[nodiscard]] std::uint64_t frame_count(std::uint64_t sample_count) const;

  // The number of first samples that decide a clip's first `frame_count` frames; the clip may end
  // before.
  [[nodiscard]] std::uint64_t samples_of(std::uint64_t frame_count) const;

  // Writes all frames, or as many as `rows` has room for, to the front of each column. It does not
  // touch what lies behind them (padding is the caller's). It writes mels only if the config has
  // that column. The caller must check the other rows.
  //
  // kBadInput if the clip is too short for its padding (reflect needs more samples than half a
  // window) or makes no frame, or if a mel before the logarithm is not finite: samples of 1e17 have
  // a power that float32 cannot hold.
  [[nodiscard]] Result<Extracted> extract(std::span<const float> samples, const FrameRows& rows);
  [[nodiscard]] Result<Extracted> extract(std::span<const float> samples, std::span<float> mel) {
    FrameRows rows;
    rows[formats::SoundColumn::kMel] = mel;
    return extract(samples, rows);
  }

 private:
  struct Impl;
  [[nodiscard]] static Result<FeatureExtractor> create_over(const formats::FeatureConfig& config,
                                                            std::unique_ptr<FrameEngine> engine);
  explicit FeatureExtractor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The libraries and instruction set that decide the numbers, for `numerics`:
// "fftw-3.3.10-sse2-avx-avx2-..., avx2".
[[nodiscard]] std::string feature_libraries(Isa isa);

}  // namespace xtts::dsp
