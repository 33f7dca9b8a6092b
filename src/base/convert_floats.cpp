#include "base/convert_floats.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/half.hpp"

namespace xtts {

void widen_floats(std::span<const std::byte> in, DType from, std::span<float> out) noexcept {
  if (from == DType::kFloat16) return from_float16(numbers_in<std::uint16_t>(in), out);
  from_bfloat16(numbers_in<std::uint16_t>(in), out);
}

void narrow_floats(std::span<const float> in, DType to, std::span<std::byte> out) noexcept {
  if (to == DType::kFloat16) return to_float16(in, numbers_in<std::uint16_t>(out));
  if (to == DType::kBFloat16) return to_bfloat16(in, numbers_in<std::uint16_t>(out));
  std::ranges::copy(std::as_bytes(in), out.begin());
}

void convert_floats(std::span<const std::byte> in, DType from, std::span<std::byte> out,
                    DType to) noexcept {
  if (from == DType::kFloat32) return narrow_floats(numbers_in<float>(in), to, out);
  if (to == DType::kFloat32) return widen_floats(in, from, numbers_in<float>(out));
  std::array<float, 256> between;
  const std::size_t count = in.size() / size_bytes(from);
  for (std::size_t done = 0; done < count; done += between.size()) {
    const std::size_t now = std::min(between.size(), count - done);
    const std::span<float> floats = std::span(between).first(now);
    widen_floats(in.subspan(done * size_bytes(from), now * size_bytes(from)), from, floats);
    narrow_floats(floats, to, out.subspan(done * size_bytes(to), now * size_bytes(to)));
  }
}

}  // namespace xtts
