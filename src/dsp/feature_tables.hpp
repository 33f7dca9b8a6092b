// The tables and numbers that a FeatureConfig asks of each frame, in the order of their use. The
// engines of the CPU and of a GPU take them from here. Pure functions; nothing here fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dsp/kernels.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::dsp {

inline constexpr std::size_t kVectorFloats = 8;

[[nodiscard]] std::size_t round_up(std::size_t value, std::size_t multiple) noexcept;
[[nodiscard]] Compression make_compression(const formats::FeatureConfig& config);
[[nodiscard]] SpectrumOp spectrum_op(const formats::FeatureConfig& config);
// The window times sample_scale / 2. UnpackTable needs the half. It is exact: a power of two, as
// sample_scale mostly is.
[[nodiscard]] std::vector<double> make_scaled_window(const formats::FeatureConfig& config);

// The sine and cosine that unpack bin `k`: those of pi k / half.
struct Turn {
  double sine;
  double cosine;
};
[[nodiscard]] Turn turn_of(std::size_t k, std::size_t half) noexcept;

// The filters as arrays for the kernels. Empty where the config makes no mels, or the bins
// themselves are the channels.
class PackedFilters {
 public:
  explicit PackedFilters(const formats::FeatureConfig& config);
  [[nodiscard]] MelSpans spans() const;
  [[nodiscard]] const std::vector<std::uint32_t>& first_bins() const { return first_bins_; }
  [[nodiscard]] const std::vector<std::uint32_t>& bin_counts() const { return bin_counts_; }
  [[nodiscard]] const std::vector<float>& weights() const { return weights_; }

 private:
  std::vector<std::uint32_t> first_bins_;
  std::vector<std::uint32_t> bin_counts_;
  std::vector<float> weights_;
  std::size_t bin_end_ = 0;  // behind the last bin that a filter uses
};

}  // namespace xtts::dsp
