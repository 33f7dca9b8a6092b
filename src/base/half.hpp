// Conversion of float32 to and from float16 (IEEE binary16) and bfloat16, as 16 bits, because no
// 16-bit float type is portable before C++23.
//
// Narrowing rounds to nearest, ties to even. Too large numbers become infinite; too small ones
// become subnormal or zero. A NaN keeps its sign and upper payload bits and becomes quiet.
// Widening is exact (a NaN becomes quiet). All forms agree in every bit (tested over all 65,536
// halves): the single-value ones are the reference, the spans use F16C where the processor has it.
// Pure functions; `in` and `out` have the same size.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace xtts {

[[nodiscard]] constexpr std::uint16_t to_float16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16U & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) {  // NaN
    return static_cast<std::uint16_t>(sign | 0x7E00U | (magnitude >> 13U & 0x3FFU));
  }
  // 65,520 and above round to infinity, 2^-25 and below to zero.
  if (magnitude >= 0x477FF000U) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (magnitude <= 0x33000000U) return static_cast<std::uint16_t>(sign);
  const std::uint32_t exponent = magnitude >> 23U;
  const bool is_normal = exponent >= 113;  // 2^-14
  // The significand with its hidden bit, and how many of its bits a float16 of this magnitude
  // cannot hold.
  const std::uint32_t significand = (magnitude & 0x7FFFFFU) | 0x800000U;
  const std::uint32_t dropped = is_normal ? 13U : 126U - exponent;
  const std::uint32_t kept = significand >> dropped;
  const std::uint32_t rest = significand & ((1U << dropped) - 1U);
  const std::uint32_t tie = 1U << (dropped - 1U);
  const std::uint32_t round_up = rest > tie || (rest == tie && (kept & 1U) != 0) ? 1U : 0U;
  // If the result is normal, `kept` still holds the hidden bit, hence 113 and not 112. A carry out
  // of the significand correctly increments the exponent.
  const std::uint32_t base = is_normal ? (exponent - 113U) << 10U : 0U;
  return static_cast<std::uint16_t>(sign | (base + kept + round_up));
}

[[nodiscard]] constexpr float from_float16(std::uint16_t half) noexcept {
  const std::uint32_t sign = (half & 0x8000U) << 16U;
  const std::uint32_t exponent = half >> 10U & 0x1FU;
  const std::uint32_t significand = half & 0x3FFU;
  if (exponent == 0x1F) {
    const std::uint32_t quiet = significand != 0 ? 0x400000U : 0U;
    return std::bit_cast<float>(sign | 0x7F800000U | quiet | significand << 13U);
  }
  if (exponent != 0) {
    return std::bit_cast<float>(sign | (exponent + 112U) << 23U | significand << 13U);
  }
  const float magnitude = static_cast<float>(significand) * 0x1p-24F;  // exact
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

[[nodiscard]] constexpr std::uint16_t to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>(bits >> 16U | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
}

[[nodiscard]] constexpr float from_bfloat16(std::uint16_t half) noexcept {
  const bool is_nan = (half & 0x7FFFU) > 0x7F80U;
  return std::bit_cast<float>(std::uint32_t{half} << 16U | (is_nan ? 0x400000U : 0U));
}

// The largest finite numbers.
inline constexpr std::uint16_t kLargestFloat16 = 0x7BFF;  // 65,504
inline constexpr std::uint16_t kLargestBFloat16 = 0x7F7F;

// kBest: the fastest that the processor has.
enum class HalfPath : std::uint8_t { kBest, kScalar };
[[nodiscard]] bool has_f16c() noexcept;

void to_float16(std::span<const float> in, std::span<std::uint16_t> out,
                HalfPath path = HalfPath::kBest) noexcept;
void from_float16(std::span<const std::uint16_t> in, std::span<float> out,
                  HalfPath path = HalfPath::kBest) noexcept;
void to_bfloat16(std::span<const float> in, std::span<std::uint16_t> out) noexcept;
void from_bfloat16(std::span<const std::uint16_t> in, std::span<float> out) noexcept;

}  // namespace xtts
