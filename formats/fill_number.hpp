// The number that a record's fill bits stand for: a float32's bits in float columns, an int32's in
// all others (cache-v1.md, 4). It is the number as the column holds it: rounded in a half.
#pragma once

#include <bit>
#include <cstdint>

#include "base/half.hpp"
#include "xtts/dtype.hpp"

namespace xtts::formats {

[[nodiscard]] constexpr double fill_number(DType stored, std::uint32_t fill_bits) noexcept {
  const auto number = std::bit_cast<float>(fill_bits);
  switch (stored) {
    case DType::kFloat32:
      return number;
    case DType::kFloat16:
      return from_float16(to_float16(number));
    case DType::kBFloat16:
      return from_bfloat16(to_bfloat16(number));
    default:
      return static_cast<double>(std::bit_cast<std::int32_t>(fill_bits));
  }
}

}  // namespace xtts::formats
