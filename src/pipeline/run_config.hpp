// RunConfig: how a build runs. Nothing in it may change a byte of the cache, and a test says so.
#pragma once

#include <cstdint>
#include <functional>

#include "audio/audio_decoder.hpp"

namespace xtts::pipeline {

// Where sources lie. kAuto asks the system.
enum class SourceDisk : std::uint8_t { kAuto, kRotating };

struct RunConfig {
  std::uint32_t thread_count = 1;
  std::uint64_t memory_bytes = std::uint64_t{512} << 20U;
  SourceDisk source_disk = SourceDisk::kAuto;
  // Of decoders that work in processes of their own (decode_worker::contained_in), one a thread.
  // A build cannot do without.
  audio::MakeDecoder make_decoder = {};
  // Asked while such a process decodes, from any thread: true ends what it is at. build() asks its
  // observer.
  std::function<bool()> cancelled = {};
};

inline constexpr std::uint64_t kMemoryBytesMin = std::uint64_t{512} << 20U;

// The processors this process may use (its affinity mask).
[[nodiscard]] std::uint32_t default_thread_count();
// A quarter of the memory or 2 GiB, the smaller; at least kMemoryBytesMin.
[[nodiscard]] std::uint64_t default_memory_bytes();

}  // namespace xtts::pipeline
