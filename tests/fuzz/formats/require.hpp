// The demands of a fuzzer on the codecs, beside not crashing: a broken promise ends the program,
// which libFuzzer reports with the input that did it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "formats/preamble.hpp"

namespace xtts::formats {

inline void require(bool promise, const char* what) {
  if (promise) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

[[nodiscard]] inline std::span<const std::byte> as_bytes(const std::uint8_t* data,
                                                         std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

// The input cut or filled with zeros to `size`, and its check made right: invented bytes would
// never guess a check, and what lies behind it is what we want to reach.
[[nodiscard]] inline std::string sealed(const std::uint8_t* data, std::size_t data_size,
                                        std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), data_size);
  bytes.resize(size, '\0');
  seal(std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

}  // namespace xtts::formats
