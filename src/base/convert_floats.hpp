// Conversion between float types (half.hpp defines the rounding). Pure functions; `in` and `out`
// hold the same number of values and begin at multiples of their size.
#pragma once

#include <cstddef>
#include <span>

#include "xtts/dtype.hpp"

namespace xtts {

// Views bytes as numbers, without a copy.
template <typename Number>
[[nodiscard]] std::span<const Number> numbers_in(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const Number*>(bytes.data()), bytes.size() / sizeof(Number)};
}
template <typename Number>
[[nodiscard]] std::span<Number> numbers_in(std::span<std::byte> bytes) noexcept {
  return {reinterpret_cast<Number*>(bytes.data()), bytes.size() / sizeof(Number)};
}

// `from` is a half float.
void widen_floats(std::span<const std::byte> in, DType from, std::span<float> out) noexcept;
// `to` is any float type.
void narrow_floats(std::span<const float> in, DType to, std::span<std::byte> out) noexcept;
// Both are float types and differ.
void convert_floats(std::span<const std::byte> in, DType from, std::span<std::byte> out,
                    DType to) noexcept;

}  // namespace xtts
