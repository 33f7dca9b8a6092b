// ImageMemory: growing zeroed memory for a shard image, at an address that never moves.
//
// We do not use the pages of LMDB's own map. Fresh memfd pages come in 4 KiB each, and their page
// faults cost 115 ms for a 128 MiB shard, where the copying itself costs 10. Anonymous memory may
// use huge pages: 22 ms. Address space is reserved for the largest image; memory is taken as the
// image grows. One thread at a time. Failures: kResource.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "base/system_call.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

class ImageMemory {
 public:
  [[nodiscard]] static Result<ImageMemory> reserve(std::size_t size_bytes_max);

  // Makes the first `size_bytes` usable. Unwritten bytes are zero.
  [[nodiscard]] Status grow_to(std::size_t size_bytes);
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return room_.first(usable_bytes_); }

 private:
  ImageMemory(Mapping mapping, std::span<std::byte> room)
      : mapping_(std::move(mapping)), room_(room) {}

  Mapping mapping_;
  std::span<std::byte> room_;  // from the first huge page boundary of the mapping on
  std::size_t usable_bytes_ = 0;
};

}  // namespace xtts::store
