// Reads of a known size, where fewer bytes mean damage. Pure except for the read. Failures:
// kCorrupt (the file ends too early; names file and offset), kResource (I/O).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

[[nodiscard]] Status corrupt(std::string_view file, std::uint64_t offset_bytes,
                             std::string_view problem);

[[nodiscard]] Status read_exactly(const RandomAccessFile& file, std::string_view name,
                                  std::uint64_t offset_bytes, std::span<std::byte> out);

// Allocates no more than the file's size, even if `size_bytes` is larger.
[[nodiscard]] Result<std::vector<std::byte>> read_exactly(const RandomAccessFile& file,
                                                          std::string_view name,
                                                          std::uint64_t offset_bytes,
                                                          std::uint64_t size_bytes);

}  // namespace xtts::reader
