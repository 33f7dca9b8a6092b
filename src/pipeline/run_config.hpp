// RunConfig: how a build runs. None of it may change a byte of the cache; a test checks this.
#pragma once

#include <cstdint>
#include <functional>

#include "audio/audio_decoder.hpp"

namespace xtts::pipeline {

// The kind of disk that sources lie on. kAuto asks the system.
enum class SourceDisk : std::uint8_t { kAuto, kRotating };

struct RunConfig {
  std::uint32_t thread_count = 1;
  std::uint64_t memory_bytes = std::uint64_t{512} << 20U;
  SourceDisk source_disk = SourceDisk::kAuto;
  // Makes decoders that work in their own processes (decode_worker::contained_in), one for each
  // thread. A build needs it.
  audio::MakeDecoder make_decoder = {};
  // Called on any thread while such a process decodes; true ends its work. build() calls its
  // observer.
  std::function<bool()> cancelled = {};
};

inline constexpr std::uint64_t kMemoryBytesMin = std::uint64_t{512} << 20U;

// The processors this process may use (its affinity mask).
[[nodiscard]] std::uint32_t default_thread_count();
// A quarter of the memory, at most 2 GiB and at least kMemoryBytesMin.
[[nodiscard]] std::uint64_t default_memory_bytes();

}  // namespace xtts::pipeline
