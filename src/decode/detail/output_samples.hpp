// OutputSamples: appends to the caller's vector without clearing it first.
//
// vector::resize zero-fills what it adds; a vector that keeps its old length from the clip before
// is only filled where it grows, and its pages stay warm. The true length is set once, by finish().
// Borrows the vector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace xtts::decode::detail {

class OutputSamples {
 public:
  explicit OutputSamples(std::vector<float>& samples) : samples_(samples) {}

  // Room for `count` more; valid until the next call. What is written there counts only after
  // advance().
  [[nodiscard]] float* room(std::size_t count) {
    const std::size_t needed = used_ + count;
    if (samples_.size() < needed)
      samples_.resize(std::max(needed, std::max(samples_.capacity(), used_ + used_ / 2)));
    return samples_.data() + used_;
  }
  void advance(std::size_t count) noexcept { used_ += count; }
  // Shortens, or adds zeros.
  void set_length(std::size_t count) {
    if (count > used_) std::fill_n(room(count - used_), count - used_, 0.0F);
    used_ = count;
  }
  [[nodiscard]] std::size_t length() const noexcept { return used_; }
  [[nodiscard]] std::span<const float> samples() const noexcept {
    return std::span<const float>(samples_).first(used_);
  }
  void clear() noexcept { used_ = 0; }
  void finish() { samples_.resize(used_); }

 private:
  std::vector<float>& samples_;
  std::size_t used_ = 0;
};

}  // namespace xtts::decode::detail
