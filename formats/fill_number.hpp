// The number that a record's fill bits stand for: a float32's bits in float columns, an int32's in
// all others (cache-v1.md, 4).
#pragma once

#include <bit>
#include <cstdint>

#include "xtts/dtype.hpp"

namespace xtts::formats {

[[nodiscard]] constexpr double fill_number(DType dtype, std::uint32_t fill_bits) noexcept {
  const bool is_float =
      dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  return is_float ? static_cast<double>(std::bit_cast<float>(fill_bits))
                  : static_cast<double>(std::bit_cast<std::int32_t>(fill_bits));
}

}  // namespace xtts::formats
