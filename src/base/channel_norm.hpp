// ChannelNorm computes (x - mean) / max(deviation, 1e-5) with each channel's own numbers. Readers,
// `convert --bake` and verify all use this one function, so they agree in every bit.
//
// Mean and divisor are rounded to float32 once; then follow one subtraction and one division in
// float32. The result equals, in every bit and on every machine, NumPy's on float32 arrays. (A
// factor instead of the division would not be faster, because memory limits both: 13.5 us for
// 256,000 bytes with either, 12.9 for memcpy alone, on an AMD EPYC.)
//
// Immutable, share freely. Failures of create(): kInvalidArgument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "xtts/dtype.hpp"
#include "xtts/status.hpp"

namespace xtts {

// A constant channel (a band that the corpus does not have) becomes zeros, not large rounding
// errors.
inline constexpr double kDeviationMin = 1e-5;

// kScalar: the reference, kept for ever; the other form agrees with it in every bit.
enum class NormPath : std::uint8_t { kBest, kScalar };

class ChannelNorm {
 public:
  // Each list has one finite number per channel; deviations are 0 or more.
  [[nodiscard]] static Result<ChannelNorm> create(std::span<const double> means,
                                                  std::span<const double> deviations);

  [[nodiscard]] std::size_t channel_count() const noexcept { return means_.size(); }
  // By channel; what apply() subtracts, and what it divides by.
  [[nodiscard]] std::span<const float> means() const noexcept { return means_; }
  [[nodiscard]] std::span<const float> divisors() const noexcept { return divisors_; }

  // Normalizes values of whole or partial frames. The first value belongs to `first_channel`.
  // `out` has the size of `in`, and may be the same memory.
  void apply(std::span<const float> in, std::span<float> out, std::size_t first_channel = 0,
             NormPath path = NormPath::kBest) const noexcept;
  // apply() for any float types: it widens values first and rounds them last.
  void apply(std::span<const std::byte> in, DType from, std::span<std::byte> out, DType to,
             std::size_t first_channel = 0) const noexcept;

 private:
  ChannelNorm(std::vector<float> means, std::vector<float> divisors) noexcept;

  std::vector<float> means_;
  std::vector<float> divisors_;
};

}  // namespace xtts
