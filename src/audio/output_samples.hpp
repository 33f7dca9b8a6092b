// OutputSamples: the output of the codec or the resampler that no consumer has taken yet.
//
// vector::resize fills new elements with zeros. A buffer that keeps its length from clip to clip is
// filled only when it grows, and its pages stay warm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace xtts::audio {

class OutputSamples {
 public:
  // Begins a new signal; the buffer is kept.
  void begin() noexcept { held_ = taken_ = 0; }

  // Returns room for `count` more samples; valid until the next call. Samples written there count
  // only after advance().
  [[nodiscard]] float* room(std::size_t count) {
    const std::size_t needed = held_ + count;
    if (buffer_.size() < needed) buffer_.resize(std::max(needed, held_ + held_ / 2));
    return buffer_.data() + held_;
  }
  void advance(std::size_t count) noexcept { held_ += count; }
  // The length of the whole signal so far, taken or not.
  [[nodiscard]] std::uint64_t length() const noexcept { return taken_ + held_; }
  // Shortens the signal, or adds zeros. Samples that were taken stay taken.
  void set_length(std::uint64_t length) {
    const std::size_t held = length > taken_ ? static_cast<std::size_t>(length - taken_) : 0;
    if (held > held_) std::fill_n(room(held - held_), held - held_, 0.0F);
    held_ = held;
  }
  [[nodiscard]] std::span<const float> held() const noexcept {
    return std::span<const float>(buffer_).first(held_);
  }
  void drop_front(std::size_t count) noexcept {
    held_ -= count;
    taken_ += count;
    std::memmove(buffer_.data(), buffer_.data() + count, held_ * sizeof(float));
  }

 private:
  std::vector<float> buffer_;
  std::size_t held_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace xtts::audio
