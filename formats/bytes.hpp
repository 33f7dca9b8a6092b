// Little-endian numbers in byte buffers, on any machine. Compilers turn the loops into one move on
// x86 and ARM. The functions check nothing: the caller makes sure that offset + sizeof(T) lies in
// the buffer.
#pragma once

#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/hash.hpp"

namespace xtts::formats {

template <std::integral T>
[[nodiscard]] constexpr T load(std::span<const std::byte> bytes, std::size_t offset) noexcept {
  using Unsigned = std::make_unsigned_t<T>;
  assert(offset + sizeof(T) <= bytes.size());
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[offset + i]) << (8 * i);
  }
  return static_cast<T>(static_cast<Unsigned>(value));
}

template <std::integral T>
constexpr void store(std::span<std::byte> bytes, std::size_t offset, T value) noexcept {
  assert(offset + sizeof(T) <= bytes.size());
  const auto bits = static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[offset + i] = static_cast<std::byte>(bits >> (8 * i) & 0xFFU);
  }
}

template <std::integral T>
void append(std::string& out, T value) {
  std::byte buffer[sizeof(T)];
  store(buffer, 0, value);
  out.append(reinterpret_cast<const char*>(buffer), sizeof(T));
}

// A digest in binary: high, then low.
[[nodiscard]] constexpr Digest load_digest(std::span<const std::byte> bytes,
                                           std::size_t offset) noexcept {
  return {load<std::uint64_t>(bytes, offset), load<std::uint64_t>(bytes, offset + 8)};
}

constexpr void store_digest(std::span<std::byte> bytes, std::size_t offset,
                            const Digest& digest) noexcept {
  store(bytes, offset, digest.high);
  store(bytes, offset + 8, digest.low);
}

inline void append_digest(std::string& out, const Digest& digest) {
  append(out, digest.high);
  append(out, digest.low);
}

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// A view of `bytes` as text; shows the same memory.
[[nodiscard]] inline std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace xtts::formats
