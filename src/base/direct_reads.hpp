// Reading past the system's page cache, many reads at once: what a fast disk needs to show what it
// can. Handed out by Env (open_direct_queue) and its files (open_direct), so that tests can put
// faults between.
//
// A DirectFile is immutable: share freely. A DirectQueue: one thread at a time submits, one thread
// at a time reaps, and the two may be different threads at the same time. Memory that is being read
// into must not be given back, nor a queue be destroyed, before its reads were reaped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/system_call.hpp"
#include "xtts/status.hpp"

namespace xtts {

class DirectFile {
 public:
  // Takes over the descriptor. `alignment_bytes`, a power of two: of offsets, sizes and memory.
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
  std::size_t read_bytes = 0;  // fewer than asked at the file's end, and where the system broke off
};

class DirectQueue {
 public:
  virtual ~DirectQueue() = default;
  // Begins the reads from the first on and returns how many it could: fewer where the queue is
  // full (no more than its depth may be on their way), or the kernel short of memory.
  // Failures: kUnsupported, kResource: none of them has begun.
  [[nodiscard]] virtual Result<std::size_t> submit(std::span<const DirectRead> reads) = 0;
  // Waits until at least one is done, and returns how many of them were put into `done`; none where
  // none is on its way.
  [[nodiscard]] virtual Result<std::size_t> reap(std::span<DirectDone> done) = 0;
};

}  // namespace xtts
