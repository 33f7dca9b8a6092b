// Arithmetic on numbers from a file: an overflow is reported and never wraps. Pure functions.
#pragma once

#include <concepts>
#include <limits>
#include <optional>

namespace xtts {

template <std::unsigned_integral T>
[[nodiscard]] constexpr std::optional<T> checked_multiply(T a, T b) noexcept {
  if (a != 0 && b > std::numeric_limits<T>::max() / a) return std::nullopt;
  return static_cast<T>(a * b);
}

// True where [offset, offset + size) lies in [0, total). Never overflows.
template <std::unsigned_integral T>
[[nodiscard]] constexpr bool lies_within(T offset, T size, T total) noexcept {
  return offset <= total && size <= total - offset;
}

// The next multiple of `alignment` (a power of two) at or above `value`, which is known to fit.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T align_up(T value, T alignment) noexcept {
  return static_cast<T>((value + (alignment - 1)) & ~static_cast<T>(alignment - 1));
}

}  // namespace xtts
