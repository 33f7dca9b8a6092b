// ImageMemory: growing zeroed memory for a shard image, at an address that never moves.
//
// Why not the pages of LMDB's own map: fresh memfd pages come in 4 KiB each, and their page faults
// cost 115 ms for a 128 MiB shard where the copying itself costs 10. Anonymous memory may use huge
// pages: 22 ms. Address space is reserved for the largest image, memory is taken as it grows. One
// thread at a time. Failures: kResource.
#pragma once

#include <cstddef>
#include <span>

#include "xtts/status.hpp"

namespace xtts::store {

class ImageMemory {
 public:
  [[nodiscard]] static Result<ImageMemory> reserve(std::size_t size_bytes_max);
  ImageMemory(ImageMemory&& other) noexcept;
  ImageMemory& operator=(ImageMemory&&) = delete;
  ~ImageMemory();

  // Makes the first `size_bytes` usable. What was never written reads as zero.
  [[nodiscard]] Status grow_to(std::size_t size_bytes);
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {begin_, usable_bytes_}; }

 private:
  ImageMemory(std::byte* mapping, std::size_t mapping_bytes, std::byte* begin,
              std::size_t size_bytes_max)
      : mapping_(mapping),
        mapping_bytes_(mapping_bytes),
        begin_(begin),
        size_bytes_max_(size_bytes_max) {}

  std::byte* mapping_;
  std::size_t mapping_bytes_;
  std::byte* begin_;  // the first huge page boundary of the mapping
  std::size_t size_bytes_max_;
  std::size_t usable_bytes_ = 0;
};

}  // namespace xtts::store
