// The common parts of the fake driver's tests: breaches of a rule that are tried with many seeds,
// and an upload.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cuda/driver_calls.hpp"
#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cuda_driver/gpu_under_test.hpp"

namespace xtts::testing {

inline constexpr std::size_t kBytes = 20000;
inline constexpr std::uint64_t kSeedCount = 20;

// Runs `breach` for many seeds. Whatever the timing, the fault has these words each time.
inline void expect_fault(const ::testing::Matcher<std::string>& words,
                         const std::function<void(GpuUnderTest&)>& breach) {
  for (std::uint64_t seed = 0; seed < kSeedCount; ++seed) {
    SCOPED_TRACE(seed);
    GpuUnderTest gpu({.seed = seed});
    breach(gpu);
    EXPECT_THAT(gpu.take_faults(), words);
    if (::testing::Test::HasFailure()) return;
  }
}

// A stream, and page-locked memory on its way to memory of the device.
struct Upload {
  explicit Upload(GpuUnderTest& some_gpu, unsigned flags = cuda::kStreamNonBlocking)
      : gpu(some_gpu), host(some_bytes(kBytes, 1)), stream(gpu.stream(flags)) {
    memory = gpu.memory(kBytes);
    gpu.lock(host);
  }
  ~Upload() {
    gpu.wait(stream);
    gpu.unlock(host);
  }
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;
  void copy() { gpu.copy_in(memory, host, stream); }

  GpuUnderTest& gpu;
  std::vector<std::byte> host;
  cuda::StreamHandle stream;
  cuda::DeviceAddress memory = 0;
};

}  // namespace xtts::testing
