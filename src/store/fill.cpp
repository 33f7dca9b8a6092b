#include "store/fill.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

#include "base/formatted.hpp"
#include "base/half.hpp"
#include "formats/bytes.hpp"

namespace xtts::store {
namespace {

template <std::integral T>
FillElement element_of(T value) {
  FillElement element;
  element.size_bytes = sizeof(T);
  formats::store<T>(element.bytes, 0, value);
  return element;
}

template <std::integral T>
Result<FillElement> element_in_range(DType dtype, std::int32_t value) {
  if (!std::in_range<T>(value)) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("fill value {} does not fit {}", value, to_string(dtype)));
  }
  return element_of(static_cast<T>(value));
}

// Fills eight bytes at a time: every element size divides eight, so the pattern repeats.
void fill_words(const FillElement& element, std::span<std::byte> out) noexcept {
  std::array<std::byte, 8> word{};
  for (std::size_t i = 0; i < word.size(); ++i) word[i] = element.bytes[i % element.size_bytes];
  const auto bits = std::bit_cast<std::uint64_t>(word);
  const std::size_t whole = out.size() / sizeof(bits) * sizeof(bits);
  for (std::size_t i = 0; i < whole; i += sizeof(bits)) {
    std::memcpy(out.data() + i, &bits, sizeof(bits));
  }
  std::copy_n(word.begin(), out.size() - whole, out.begin() + static_cast<std::ptrdiff_t>(whole));
}

}  // namespace

Result<FillElement> fill_element(DType dtype, std::uint32_t fill_bits) {
  const auto as_float = std::bit_cast<float>(fill_bits);
  const auto as_integer = std::bit_cast<std::int32_t>(fill_bits);
  switch (dtype) {
    case DType::kFloat32:
      return element_of(fill_bits);
    case DType::kFloat16:
      return element_of(to_float16(as_float));
    case DType::kBFloat16:
      return element_of(to_bfloat16(as_float));
    case DType::kInt32:
      return element_of(as_integer);
    case DType::kInt16:
      return element_in_range<std::int16_t>(dtype, as_integer);
    case DType::kUInt8:
      return element_in_range<std::uint8_t>(dtype, as_integer);
    case DType::kInt64:
      return element_of(std::int64_t{as_integer});
  }
  return Status(StatusCode::kInvalidArgument, "fill value of an unknown dtype");
}

void fill_with(const FillElement& element, std::span<std::byte> out) noexcept {
  assert(out.size() % element.size_bytes == 0);
  const auto first = element.bytes[0];
  const bool uniform =
      std::all_of(element.bytes.begin(),
                  element.bytes.begin() + static_cast<std::ptrdiff_t>(element.size_bytes),
                  [first](std::byte byte) { return byte == first; });
  if (uniform) {
    if (!out.empty()) std::memset(out.data(), std::to_integer<int>(first), out.size());
  } else {
    fill_words(element, out);
  }
}

}  // namespace xtts::store
