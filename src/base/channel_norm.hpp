// ChannelNorm: (x - mean) / max(deviation, 1e-5), each channel by its own numbers. Readers apply it
// to what they copy, `convert --bake` to what it writes, verify to what it computes again: one
// function, so that all of them agree in every bit.
//
// Mean and divisor are rounded to float32 once; then one subtraction and one division in float32.
// That is, in every bit and on every machine, what NumPy makes of float32 arrays. (A factor instead
// of the division would be no faster: both are bound by memory, 13.5 us for 256,000 bytes with
// either, 12.9 for memcpy alone, on an AMD EPYC.)
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

// A channel that is the same everywhere (a band that the corpus does not have) becomes zeros, not
// its rounding errors made large.
inline constexpr double kDeviationMin = 1e-5;

// kScalar: the reference, kept for ever; the other form agrees with it in every bit.
enum class NormPath : std::uint8_t { kBest, kScalar };

class ChannelNorm {
 public:
  // One number a channel each: finite, deviations from 0 up.
  [[nodiscard]] static Result<ChannelNorm> create(std::span<const double> means,
                                                  std::span<const double> deviations);

  [[nodiscard]] std::size_t channel_count() const noexcept { return means_.size(); }

  // Values of whole or broken frames, the first of which belongs to `first_channel`. `out` has the
  // size of `in`, and may be it.
  void apply(std::span<const float> in, std::span<float> out, std::size_t first_channel = 0,
             NormPath path = NormPath::kBest) const noexcept;
  // The same for any float types: widened first, rounded last.
  void apply(std::span<const std::byte> in, DType from, std::span<std::byte> out, DType to,
             std::size_t first_channel = 0) const noexcept;

 private:
  ChannelNorm(std::vector<float> means, std::vector<float> divisors) noexcept;

  std::vector<float> means_;
  std::vector<float> divisors_;
};

}  // namespace xtts
