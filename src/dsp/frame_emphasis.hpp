// FrameEmphasis: what Kaldi does with the win_samples of a frame before its window: less their mean
// (remove_dc), then x[i] - preemphasis x[i - 1], the first standing in for the one before it.
// Immutable, share freely.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "formats/feature_config.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::dsp {

class FrameEmphasis {
 public:
  explicit FrameEmphasis(const formats::StftConfig& config) noexcept
      : first_(formats::window_start(config)),
        count_(config.win_samples),
        remove_dc_(config.remove_dc),
        preemphasis_(config.preemphasis) {}

  [[nodiscard]] bool is_needed() const noexcept { return remove_dc_ || preemphasis_ != 0.0; }

  // out[n] = what became of frame[n], times window[n]; zeros beside the window.
  template <typename Real>
  void apply(const float* frame, std::type_identity_t<std::span<const Real>> window,
             Real* out) const noexcept {
    for (std::size_t n = 0; n < window.size(); ++n) out[n] = Real{0};
    const float* const samples = frame + first_;
    const Real mean = remove_dc_ ? mean_of<Real>(samples) : Real{0};
    const auto factor = static_cast<Real>(preemphasis_);
    Real before = static_cast<Real>(samples[0]) - mean;
    for (std::size_t i = 0; i < count_; ++i) {
      const Real x = static_cast<Real>(samples[i]) - mean;
      out[first_ + i] = (x - factor * before) * window[first_ + i];
      before = x;
    }
  }

 private:
  // Four sums: one alone would wait for itself at each sample.
  template <typename Real>
  [[nodiscard]] Real mean_of(const float* samples) const noexcept {
    Real sums[4] = {};
    for (std::size_t i = 0; i < count_; ++i) sums[i % 4] += static_cast<Real>(samples[i]);
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) / static_cast<Real>(count_);
  }

  std::size_t first_;
  std::size_t count_;
  bool remove_dc_;
  double preemphasis_;
};

}  // namespace xtts::dsp
