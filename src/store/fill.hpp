// The fill value of padded records, as elements of their dtype. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "xtts/dtype.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

struct FillElement {
  std::array<std::byte, 8> bytes{};
  std::size_t size_bytes = 1;
};

// `fill_bits` are the bits of a float32 for float dtypes, of an int32 for the others.
// kInvalidArgument: the number does not fit the dtype.
[[nodiscard]] Result<FillElement> fill_element(DType dtype, std::uint32_t fill_bits);

// `out` holds whole elements.
void fill_with(const FillElement& element, std::span<std::byte> out) noexcept;

}  // namespace xtts::store
