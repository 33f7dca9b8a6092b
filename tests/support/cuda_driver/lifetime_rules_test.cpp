// The fake driver's rules of handles, contexts, processes and what is left, with a breach of each
// that it must find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "support/cuda_driver/breach.hpp"
#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cuda_driver/gpu_under_test.hpp"

namespace xtts::testing {
namespace {

using cuda::kSuccess;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(FakeCuda, FindsWhatIsLeft) {
  GpuUnderTest gpu;
  auto host = some_bytes(kBytes, 1);
  (void)gpu.stream();
  (void)gpu.event();
  (void)gpu.memory(100);
  gpu.lock(host);
  (void)gpu.kernel(cuda::kFillKernel);
  EXPECT_THAT(fake_cuda::leftovers(),
              ::testing::ElementsAre("stream 1", "event 1", "memory 1",
                                     "page-locked memory 1 (20000 bytes)", "module 1",
                                     "context 1, retained 1 times",
                                     HasSubstr("context 1, current on thread")));
  gpu.unlock(host);
}

TEST(FakeCuda, FindsAContextThatIsReleasedTooEarly) {
  fake_cuda::reset();
  cuda::ContextHandle context = nullptr;
  cuda::StreamHandle stream = nullptr;
  {
    GpuUnderTest gpu;
    context = gpu.context;
    EXPECT_EQ(gpu.calls.create_stream(&stream, 0, 0), kSuccess);
    EXPECT_EQ(gpu.calls.release_context(0), kSuccess);
    EXPECT_EQ(gpu.take_faults(),
              "cuDevicePrimaryCtxRelease: context 1 is released, but stream 1 still exists");
    EXPECT_EQ(gpu.calls.synchronize_stream(stream), cuda::kContextIsDestroyed);
    EXPECT_THAT(gpu.take_faults(), HasSubstr("cuStreamSynchronize: stream 1 is gone"));
    EXPECT_EQ(gpu.calls.push_context(context), cuda::kContextIsDestroyed);
    EXPECT_EQ(gpu.take_faults(), "cuCtxPushCurrent: context 1 was released");
    cuda::DeviceAddress memory = 0;
    EXPECT_EQ(gpu.calls.allocate(&memory, 1), cuda::kContextIsDestroyed);
    EXPECT_EQ(gpu.take_faults(), "cuMemAlloc: context 1 is current, and was released");
    EXPECT_EQ(gpu.calls.release_context(0), 201);
    EXPECT_THAT(gpu.take_faults(), HasSubstr("is not retained"));
    EXPECT_EQ(gpu.calls.retain_context(&gpu.context, 0), kSuccess);
    EXPECT_NE(gpu.context, context);
  }
}

TEST(FakeCuda, FindsHandlesThatWereDestroyed) {
  GpuUnderTest gpu;
  Upload upload(gpu);
  cuda::StreamHandle stream = nullptr;
  cuda::EventHandle event = nullptr;
  EXPECT_EQ(gpu.calls.create_stream(&stream, 0, 0), kSuccess);
  EXPECT_EQ(gpu.calls.create_event(&event, 0), kSuccess);
  EXPECT_EQ(gpu.calls.destroy_stream(stream), kSuccess);
  EXPECT_EQ(gpu.calls.destroy_event(event), kSuccess);
  EXPECT_EQ(gpu.calls.synchronize_stream(stream), 400);
  EXPECT_EQ(gpu.take_faults(), "cuStreamSynchronize: stream 2 was destroyed");
  EXPECT_EQ(gpu.calls.query_event(event), 400);
  EXPECT_EQ(gpu.take_faults(), "cuEventQuery: event 1 was destroyed");
  EXPECT_EQ(gpu.calls.destroy_event(event), 400);
  EXPECT_EQ(gpu.take_faults(), "cuEventDestroy: event 1 was destroyed");
  EXPECT_EQ(gpu.calls.destroy_stream(nullptr), 400);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("default stream"));
  EXPECT_EQ(gpu.calls.free(upload.memory + 1), 1);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("lies inside of memory 1"));
  EXPECT_EQ(gpu.calls.copy_to_device(upload.memory + 1, upload.host.data(), kBytes, upload.stream),
            1);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("are no device memory"));
  EXPECT_EQ(gpu.calls.unlock_host_memory(upload.host.data() + 1), 713);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("not the beginning of page-locked memory"));
  EXPECT_EQ(gpu.calls.lock_host_memory(upload.host.data() + 1, 5, 0), 712);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("page-locked already"));
}

TEST(FakeCuda, FinishesTheWorkOfADestroyedStreamAndEvent) {
  for (std::uint64_t seed = 0; seed < kSeedCount; ++seed) {
    GpuUnderTest gpu({.seed = seed, .latest = std::chrono::milliseconds(2)});
    Upload upload(gpu);
    cuda::StreamHandle stream = nullptr;
    cuda::EventHandle event = nullptr;
    EXPECT_EQ(gpu.calls.create_stream(&stream, cuda::kStreamNonBlocking, 0), kSuccess);
    EXPECT_EQ(gpu.calls.create_event(&event, 0), kSuccess);
    gpu.copy_in(upload.memory, upload.host, stream);
    gpu.record(event, stream);
    gpu.let_wait(upload.stream, event);
    EXPECT_EQ(gpu.calls.destroy_stream(stream), kSuccess);
    EXPECT_EQ(gpu.calls.destroy_event(event), kSuccess);
    gpu.wait(upload.stream);
    EXPECT_EQ(fake_cuda::copy_to_host(upload.memory, kBytes), upload.host);
  }
}

TEST(FakeCuda, FindsCallsWithoutOrWithAnotherContext) {
  GpuUnderTest gpu({.device_count = 2});
  const auto stream = gpu.stream();
  const auto event = gpu.event();
  cuda::ContextHandle second = nullptr;
  EXPECT_EQ(gpu.calls.retain_context(&second, 1), kSuccess);
  EXPECT_EQ(gpu.calls.push_context(second), kSuccess);
  EXPECT_EQ(gpu.calls.record_event(event, stream), 201);
  EXPECT_EQ(gpu.take_faults(), "cuEventRecord: event 1 is of context 1, but context 2 is current");
  EXPECT_EQ(gpu.calls.synchronize_stream(stream), 201);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("stream 1 is of context 1"));
  cuda::ContextHandle before = nullptr;
  EXPECT_EQ(gpu.calls.pop_context(&before), kSuccess);
  EXPECT_EQ(before, second);
  EXPECT_EQ(gpu.calls.release_context(1), kSuccess);
  std::thread([&] {
    EXPECT_EQ(gpu.calls.query_event(event), 201);
    EXPECT_EQ(gpu.calls.pop_context(&before), 201);
  }).join();
  EXPECT_EQ(gpu.take_faults(),
            "cuEventQuery: no context is current\ncuCtxPopCurrent: no context is current");
}

TEST(FakeCuda, FindsCallsBeforeTheStart) {
  GpuUnderTest gpu;
  gpu.close();
  fake_cuda::reset();
  int count = 0;
  EXPECT_EQ(gpu.calls.device_count(&count), 3);
  EXPECT_EQ(gpu.calls.driver_version(&count), kSuccess);
  EXPECT_EQ(count, 13000);
  EXPECT_EQ(gpu.take_faults(), "cuDeviceGetCount: comes before cuInit()");
}

TEST(FakeCuda, FindsCallsOfAForkedChild) {
  GpuUnderTest gpu;
  const auto event = gpu.event();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(gpu.calls.query_event(event) == 3 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(gpu.take_faults(), "a forked child called cuEventQuery");
}

TEST(FakeCuda, ServesAChildThatWasForkedBeforeTheStart) {
  GpuUnderTest gpu;
  gpu.close();
  fake_cuda::reset();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(gpu.calls.init(0) == kSuccess ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(gpu.take_faults(), "");
}

// Runs in a process of its own, for the test below.
TEST(FakeCuda, DISABLED_LeavesThings) {
  static GpuUnderTest* const gpu = new GpuUnderTest;  // lives until the process ends
  Upload upload(*gpu);
  upload.copy();
  (void)fake_cuda::copy_to_host(upload.memory, 16);
}

TEST(FakeCuda, WritesAReportWhenTheProcessEnds) {
  const std::string report = ::testing::TempDir() + "fake_cuda." + std::to_string(::getpid());
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command = "XTTS_FAKE_CUDA_FAULTS='" + report + "' '" + self +
                              "' --gtest_also_run_disabled_tests "
                              "--gtest_filter=FakeCuda.DISABLED_LeavesThings > /dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream file(report);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text, AllOf(HasSubstr(": fault: copy_to_host reads memory 1 at [0x0, 0x10)"),
                          HasSubstr(": left: stream 1\n"), HasSubstr(": left: memory 1\n"),
                          HasSubstr(": left: context 1, retained 1 times\n")));
  std::filesystem::remove(report);
}

}  // namespace
}  // namespace xtts::testing
