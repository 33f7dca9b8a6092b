// Conditioning: what happens to PCM between the resampler and the features (trim, loudness), in
// place. One thread at a time; buffers are kept from clip to clip. Fails with kBadInput only
// (nothing but silence, where the policy calls that a failure, is decided by the caller from the
// facts).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "formats/feature_config.hpp"
#include "xtts/status.hpp"

namespace xtts::dsp {

struct ConditionFacts {
  std::uint64_t trim_start_samples = 0;  // [start, end) of the resampled clip is kept
  std::uint64_t trim_end_samples = 0;
  float gain = 1.0F;           // all factors together
  float peak = 0.0F;           // |x| before the gain, after the trim
  float rms = 0.0F;            // likewise
  float silence_share = 0.0F;  // of frames more than 40 dB under the loudest, before the trim
};

class Conditioner {
 public:
  [[nodiscard]] static Result<Conditioner> create(const formats::FeatureConfig& config);
  ~Conditioner();
  Conditioner(Conditioner&&) noexcept;
  Conditioner& operator=(Conditioner&&) noexcept;

  // Trims and scales; `samples` shrinks to the kept part. Empty and silent input gives gain 1 and
  // no failure.
  [[nodiscard]] Result<ConditionFacts> apply(std::vector<float>& samples);

 private:
  struct Impl;
  explicit Conditioner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace xtts::dsp
