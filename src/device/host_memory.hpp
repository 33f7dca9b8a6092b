// HostMemory is zeroed memory that begins on a page. If it is large, it uses huge pages where the
// system has them; a batch of 8 MiB then costs four page faults, not two thousand. Move-only, owns
// its pages; one thread at a time. Failures: kResource.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "xtts/status.hpp"

namespace xtts::device {

class HostMemory {
 public:
  struct Place {
    // Takes pages of this node of the machine's memory, as long as it has some.
    std::optional<int> numa_node = {};
    // A forked child does not get the pages. A device that reads them by itself needs that: after a
    // fork, a page that the parent writes would become another one.
    bool is_kept_from_children = false;
  };
  [[nodiscard]] static Result<HostMemory> allocate(std::size_t size_bytes, const Place& place);
  [[nodiscard]] static Result<HostMemory> allocate(std::size_t size_bytes) {
    return allocate(size_bytes, Place());
  }
  ~HostMemory();
  HostMemory(HostMemory&& other) noexcept;
  HostMemory& operator=(HostMemory&& other) noexcept;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
  // Keeps the pages in memory. False: the limit on locked memory (RLIMIT_MEMLOCK) is lower.
  [[nodiscard]] bool lock() noexcept;
  // Never frees the pages, because another thread may still write to them.
  void abandon() noexcept { mapping_ = nullptr; }

 private:
  HostMemory(std::byte* mapping, std::size_t mapping_bytes, std::span<std::byte> bytes) noexcept
      : mapping_(mapping), mapping_bytes_(mapping_bytes), bytes_(bytes) {}

  std::byte* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  std::span<std::byte> bytes_;  // within the mapping
};

}  // namespace xtts::device
