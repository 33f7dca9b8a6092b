// ClipValues: what is done with a clip's frames when all of them are there, because it needs the
// whole clip or differs by channel: the range below the largest value (log.range), and the
// normalizations. Immutable, share freely; nothing here fails.
#pragma once

#include <cstdint>
#include <span>

#include "formats/feature_config.hpp"

namespace xtts::dsp {

class ClipValues {
 public:
  explicit ClipValues(const formats::FeatureConfig& config);

  [[nodiscard]] bool is_needed() const noexcept;
  // frames [count][channels], in place. `padding`: the value that more frames of the clip have in
  // all channels, or null where there are none; becomes what the same steps make of it.
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

// log.range comes between the logarithm and the affine normalization, which then waits for it.
[[nodiscard]] bool has_affine_at_once(const formats::FeatureConfig& config) noexcept;

}  // namespace xtts::dsp
