// Direct reads bypass the system's page cache, many at once, because a fast disk reaches full
// speed only so. Env (open_direct_queue) and its files (open_direct) provide them, so that tests
// can inject faults.
//
// A DirectFile may be shared by any number of threads. For a DirectQueue, one thread at a time
// submits and one thread at a time reaps; these may be two threads. Reap all reads before you free
// their memory or destroy the queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/system_call.hpp"
#include "xtts/status.hpp"

namespace xtts {

class DirectFile {
 public:
  // Takes over the descriptor. Offsets, sizes and memory must be multiples of `alignment_bytes`, a
  // power of two.
  DirectFile(int descriptor, std::uint32_t alignment_bytes) noexcept
      : descriptor_(descriptor), alignment_bytes_(alignment_bytes) {}

  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  [[nodiscard]] std::uint32_t alignment_bytes() const noexcept { return alignment_bytes_; }

 private:
  Descriptor descriptor_;
  std::uint32_t alignment_bytes_;
};

struct DirectRead {
  const DirectFile* file = nullptr;
  std::uint64_t offset_bytes = 0;  // aligned, as `out` is
  std::span<std::byte> out;
  std::uint64_t tag = 0;  // the caller's
};

struct DirectDone {
  std::uint64_t tag = 0;
  int error = 0;               // errno; 0: none
  std::size_t read_bytes = 0;  // fewer than asked: the file's end, or the system stopped early
};

class DirectQueue {
 public:
  virtual ~DirectQueue() = default;
  // Begins reads in order and returns how many have begun. Fewer begin where the queue is full
  // (its depth bounds the reads in flight) or the kernel is short of memory. Failures:
  // kUnsupported, kResource: no read has begun.
  [[nodiscard]] virtual Result<std::size_t> submit(std::span<const DirectRead> reads) = 0;
  // Waits until at least one read is done; fills `done` and returns the number of entries. Returns
  // 0 if no read is in flight.
  [[nodiscard]] virtual Result<std::size_t> reap(std::span<DirectDone> done) = 0;
};

}  // namespace xtts
