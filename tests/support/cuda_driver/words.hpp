// Words for messages, and addresses as numbers. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace xtts::testing::fake_cuda {

[[nodiscard]] inline std::string hex(std::uint64_t value) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

[[nodiscard]] inline std::string bytes_text(std::uint64_t size_bytes) {
  return std::to_string(size_bytes) + " bytes";
}

[[nodiscard]] inline std::uint64_t address_of(const std::byte* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

[[nodiscard]] inline bool overlaps(std::uint64_t begin, std::uint64_t end,
                                   std::uint64_t other_begin, std::uint64_t other_end) {
  return begin < other_end && other_begin < end;
}

}  // namespace xtts::testing::fake_cuda
