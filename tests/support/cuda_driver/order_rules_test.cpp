// When the fake driver does work, and in which order streams have it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "support/cuda_driver/breach.hpp"
#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cuda_driver/gpu_under_test.hpp"

namespace xtts::testing {
namespace {

using cuda::kSuccess;
using ::testing::HasSubstr;

TEST(FakeCuda, DoesSomeWorkOnlyWhenSomebodyWaits) {
  int late_count = 0;
  for (std::uint64_t seed = 0; seed < kSeedCount; ++seed) {
    GpuUnderTest gpu({.seed = seed, .latest = std::chrono::hours(1)});
    Upload upload(gpu);
    upload.copy();
    std::atomic<bool> is_read = false;
    const auto stream = reinterpret_cast<std::uintptr_t>(upload.stream);
    fake_cuda::launch_read(stream, upload.memory, kBytes, [&](const auto&) { is_read = true; });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    late_count += is_read ? 0 : 1;
    fake_cuda::finish(stream);
    EXPECT_TRUE(is_read);
  }
  EXPECT_GE(late_count, 1);
}

TEST(FakeCuda, OrdersTheLegacyStreamWithBlockingStreamsOnly) {
  for (const std::uintptr_t reader : {std::uintptr_t{0}, std::uintptr_t{1}}) {
    GpuUnderTest gpu;
    Upload blocking(gpu, 0);
    blocking.copy();
    fake_cuda::launch_read(reader, blocking.memory, kBytes);
    blocking.copy();
    EXPECT_EQ(gpu.take_faults(), "");
    Upload other(gpu);
    other.copy();
    fake_cuda::launch_read(reader, other.memory, kBytes);
    EXPECT_THAT(gpu.take_faults(), HasSubstr("the legacy default stream of context 1"));
    fake_cuda::finish(reader);
  }
}

TEST(FakeCuda, GivesEachThreadItsOwnPerThreadStream) {
  GpuUnderTest gpu;
  Upload upload(gpu);
  upload.copy();
  gpu.wait(upload.stream);
  fake_cuda::launch_read(2, upload.memory, kBytes);
  EXPECT_EQ(gpu.calls.copy_to_device(upload.memory, upload.host.data(), kBytes,
                                     reinterpret_cast<cuda::StreamHandle>(2)),
            kSuccess);
  EXPECT_EQ(gpu.take_faults(), "");
  std::thread([&] {
    fake_cuda::launch_read(2, upload.memory, kBytes);
    fake_cuda::finish(2);
  }).join();
  EXPECT_THAT(gpu.take_faults(), HasSubstr("the per-thread stream of thread"));
  fake_cuda::finish(2);
}

}  // namespace
}  // namespace xtts::testing
