// float32 to the two 16-bit floats and back: rounded to nearest even as IEEE 754 and every framework do; NaN stays NaN,
// what is too large becomes infinity. Bit patterns in and out: no 16-bit float type is portable before C++23.
// Pure functions. The vector forms use F16C where the processor has it; both paths agree bit for bit (tested over all
// 65,536 halves).
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace xtts {

enum class HalfPath : std::uint8_t { kBest, kScalar };
[[nodiscard]] bool has_f16c() noexcept;

// Binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits.
[[nodiscard]] constexpr std::uint16_t to_float16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  // A NaN is made quiet and keeps the upper bits of its payload, as F16C does.
  if (magnitude > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U | ((magnitude >> 13U) & 0x3FFU));
  if (magnitude >= 0x477FF000U) return static_cast<std::uint16_t>(sign | 0x7C00U);  // 65520 and above
  std::uint32_t shift = 13;
  std::uint32_t fraction = magnitude - 0x38000000U;  // the exponent's bias changes from 127 to 15
  if (magnitude < 0x38800000U) {                     // below 2^-14: subnormal, in units of 2^-24
    const std::uint32_t exponent = magnitude >> 23U;
    if (exponent < 102) return static_cast<std::uint16_t>(sign);  // below 2^-25, half of the smallest
    shift = 126 - exponent;
    fraction = (magnitude & 0x7FFFFFU) | 0x800000U;
  }
  const std::uint32_t half = 1U << (shift - 1);
  const std::uint32_t odd = (fraction >> shift) & 1U;
  return static_cast<std::uint16_t>(sign | ((fraction + half - 1 + odd) >> shift));
}

[[nodiscard]] constexpr float from_float16(std::uint16_t half) noexcept {
  const std::uint32_t sign = (half & 0x8000U) << 16U;
  const std::uint32_t exponent = (half >> 10U) & 0x1FU;
  std::uint32_t fraction = half & 0x3FFU;
  if (exponent == 0x1FU) {
    const std::uint32_t quiet = fraction != 0 ? 0x400000U : 0U;
    return std::bit_cast<float>(sign | 0x7F800000U | quiet | (fraction << 13U));
  }
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (fraction << 13U));
  if (fraction == 0) return std::bit_cast<float>(sign);
  std::uint32_t scale = 113;  // subnormal: shift the leading one into its place
  while ((fraction & 0x400U) == 0) {
    fraction <<= 1U;
    --scale;
  }
  return std::bit_cast<float>(sign | (scale << 23U) | ((fraction & 0x3FFU) << 13U));
}

// bfloat16: the upper half of a float32.
[[nodiscard]] constexpr std::uint16_t to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

[[nodiscard]] constexpr float from_bfloat16(std::uint16_t half) noexcept {
  return std::bit_cast<float>(std::uint32_t{half} << 16U);
}

// Spans of equal size.
void to_float16(std::span<const float> in, std::span<std::uint16_t> out, HalfPath path = HalfPath::kBest) noexcept;
void from_float16(std::span<const std::uint16_t> in, std::span<float> out, HalfPath path = HalfPath::kBest) noexcept;
void to_bfloat16(std::span<const float> in, std::span<std::uint16_t> out) noexcept;
void from_bfloat16(std::span<const std::uint16_t> in, std::span<float> out) noexcept;

}  // namespace xtts
