// Conditioning: the steps on PCM between the resampler and the features (trim, loudness). A reader
// gives the whole clip to be measured; then the wanted part is scaled in place. One thread at a
// time; buffers are kept from clip to clip. Fails with kBadInput if samples are not finite, and if
// reading fails. A silent clip is no failure here: the caller judges it by the facts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dsp/loudness.hpp"
#include "dsp/sample_reader.hpp"
#include "formats/recipe_fwd.hpp"
#include "xtts/status.hpp"

namespace xtts::dsp {

struct ConditionFacts {
  std::uint64_t trim_start_samples = 0;  // [start, end) of the resampled clip is kept
  std::uint64_t trim_end_samples = 0;
  float peak = 0.0F;           // |x| before the gain, after the trim
  float rms = 0.0F;            // likewise
  float silence_share = 0.0F;  // share of frames more than 40 dB under the loudest, before the trim
  std::optional<float> bandwidth_hz;  // of the kept part; see bandwidth.hpp
  Scaling scaling;                    // of the kept part, by apply_scaling()

  [[nodiscard]] std::uint64_t kept_samples() const noexcept {
    return trim_end_samples - trim_start_samples;
  }
};

class Conditioner {
 public:
  [[nodiscard]] static Result<Conditioner> create(const formats::FeatureConfig& config);
  ~Conditioner();
  Conditioner(Conditioner&&) noexcept;
  Conditioner& operator=(Conditioner&&) noexcept;

  // Empty and silent clips get a gain of 1 and are no failure.
  [[nodiscard]] Result<ConditionFacts> measure(SampleReader& samples);
  // Measures a clip in memory, then trims and scales it; `samples` shrinks to the kept part.
  [[nodiscard]] Result<ConditionFacts> apply(std::vector<float>& samples);

 private:
  struct Impl;
  explicit Conditioner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace xtts::dsp
