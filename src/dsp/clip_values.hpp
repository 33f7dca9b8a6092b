// ClipValues: the steps that need all frames of a clip, or that differ by channel: the range below
// the largest value (log.range), and the normalizations. Immutable, share freely; nothing here
// fails.
#pragma once

#include <cstdint>
#include <span>

#include "formats/feature_config.hpp"

namespace xtts::dsp {

class ClipValues {
 public:
  explicit ClipValues(const formats::FeatureConfig& config);

  [[nodiscard]] bool is_needed() const noexcept;
  // Changes `frames` [count][channels] in place. `padding`: the value of the clip's further frames
  // in all channels, or null if there are none; the same steps change it.
  void apply(std::span<float> frames, float* padding) const;

 private:
  void raise_to_range(std::span<float> frames, float* padding) const;
  void apply_min_max(std::span<float> frames, float* padding) const;
  void apply_mean_variance(std::span<float> frames) const;
  void apply_channels(std::span<float> frames) const;

  formats::NormalizeConfig normalize_;
  float range_;
  std::uint32_t channel_count_;
};

// True where the affine normalization follows the logarithm at once. With log.range it must wait:
// that step lies between them.
[[nodiscard]] bool has_affine_at_once(const formats::FeatureConfig& config) noexcept;

}  // namespace xtts::dsp
