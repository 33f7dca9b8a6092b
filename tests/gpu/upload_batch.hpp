// The common parts of the upload benchmarks: a batch of [32, 800, 80] float32 with tokens [32,
// 200], whose clips have between half and all of the frames, and a plain loop of page-locked copies
// of its true bytes, which no reader could make.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

#include "base/try.hpp"
#include "cuda/device_pool.hpp"
#include "cuda/stream.hpp"
#include "device/host_memory.hpp"

namespace xtts::gpu_bench {

using Clock = std::chrono::steady_clock;

inline constexpr std::size_t kRows = 32;
inline constexpr std::size_t kMelBytes = std::size_t{800} * 80 * sizeof(float);
inline constexpr std::size_t kTokenBytes = std::size_t{200} * sizeof(std::int32_t);
inline constexpr std::size_t kStagingBytes = kRows * (kMelBytes + kTokenBytes);
inline constexpr std::size_t kSlots = 4;

struct Row {
  std::size_t mel_bytes = 0;
  std::size_t token_bytes = 0;
};

inline std::vector<Row> made_rows() {
  std::mt19937 random(27);
  std::uniform_int_distribution<std::size_t> frames(400, 800);
  std::uniform_int_distribution<std::size_t> tokens(50, 200);
  std::vector<Row> rows(kRows);
  for (Row& row : rows) row = {frames(random) * 80 * sizeof(float), tokens(random) * 4};
  return rows;
}

inline std::size_t true_bytes(const std::vector<Row>& rows) {
  std::size_t bytes = 0;
  for (const Row& row : rows) bytes += row.mel_bytes + row.token_bytes;
  return bytes;
}

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Seconds of so many copies of so many bytes.
inline Result<double> time_plain(std::size_t bytes, std::size_t rounds) {
  XTTS_ASSIGN(auto context, cuda::Context::open(0));
  XTTS_ASSIGN(auto memory, device::HostMemory::allocate(bytes, {.numa_node = context->numa_node(),
                                                                .is_kept_from_children = true}));
  XTTS_ASSIGN(const auto locked, cuda::HostLock::lock(context, memory.bytes()));
  XTTS_ASSIGN(const auto to, cuda::DevicePool::of(context)->allocate(bytes));
  XTTS_ASSIGN(const auto stream, cuda::Stream::create(context));
  const Clock::time_point begin = Clock::now();
  for (std::size_t i = 0; i < rounds; ++i) {
    XTTS_TRY(context->run("copying", [&](const cuda::DriverCalls& calls) {
      return calls.copy_to_device(to.address(), memory.bytes().data(), bytes, stream.handle());
    }));
  }
  XTTS_TRY(stream.wait());
  return seconds_since(begin);
}

}  // namespace xtts::gpu_bench
