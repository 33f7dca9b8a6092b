// The fake driver's acts when it is told to, and its calls from C.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "support/cuda_driver/breach.hpp"
#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cuda_driver/gpu_under_test.hpp"

namespace xtts::testing {
namespace {

using cuda::kSuccess;
using ::testing::HasSubstr;

TEST(FakeCuda, FailsTheCallThatTheTestChooses) {
  GpuUnderTest gpu({.failing_calls = {{.name = "cuMemAlloc_v2", .nth = 2},
                                      {.name = "cuEventQuery", .nth = 0, .code = 719}}});
  (void)gpu.memory(1);
  cuda::DeviceAddress memory = 0;
  EXPECT_EQ(gpu.calls.allocate(&memory, 1), cuda::kOutOfMemory);
  (void)gpu.memory(1);
  const auto event = gpu.event();
  EXPECT_EQ(gpu.calls.query_event(event), 719);
  EXPECT_EQ(gpu.calls.query_event(event), 719);
  EXPECT_EQ(fake_cuda::call_count("cuEventQuery"), 2U);
  const char* text = nullptr;
  EXPECT_EQ(gpu.calls.error_name(719, &text), kSuccess);
  EXPECT_STREQ(text, "CUDA_ERROR_LAUNCH_FAILED");
  EXPECT_EQ(gpu.calls.error_text(12345, &text), 1);
  EXPECT_EQ(text, nullptr);
}

TEST(FakeCuda, SaysThatAFailingCallHasNoSuchName) {
  fake_cuda::reset({.failing_calls = {{.name = "cuMemAllocate"}}});
  EXPECT_THAT(fake_cuda::faults(), ::testing::ElementsAre(HasSubstr("cuMemAllocate")));
  fake_cuda::reset();
}

TEST(FakeCuda, RunsOutOfMemory) {
  GpuUnderTest gpu({.memory_bytes = 10000});
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  (void)gpu.memory(6000);
  cuda::DeviceAddress memory = 0;
  EXPECT_EQ(gpu.calls.allocate(&memory, 6000), cuda::kOutOfMemory);
  EXPECT_EQ(gpu.calls.memory_info(&free_bytes, &total_bytes), kSuccess);
  EXPECT_EQ(free_bytes, 4000U);
  EXPECT_EQ(total_bytes, 10000U);
}

TEST(FakeCuda, KeepsTheHostOutOfItsMemory) {
  GpuUnderTest gpu;
  const auto memory = gpu.memory(kBytes);
  EXPECT_EQ(memory % 256, 0U);
  EXPECT_DEATH((void)*reinterpret_cast<volatile char*>(memory), "");
}

TEST(FakeCuda, SpeaksC) {
  GpuUnderTest gpu;
  Upload upload(gpu);
  upload.copy();
  const auto reader = fake_cuda_make_stream(0, 0);
  std::vector<std::byte> bytes(kBytes);
  fake_cuda_launch_read(reader, upload.memory, 4, bytes.data());
  gpu.wait(upload.stream);
  fake_cuda_finish(reader);
  fake_cuda_copy_to_host(upload.memory, bytes.data(), kBytes);
  EXPECT_EQ(fake_cuda_call_count("cuMemAlloc"), 1U);
  char text[12];
  EXPECT_EQ(fake_cuda_faults(text, sizeof text), 1);
  EXPECT_STREQ(text, "launch_read");
  EXPECT_GE(fake_cuda_leftovers(text, sizeof text), 4);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("launch_read"));
}

}  // namespace
}  // namespace xtts::testing
