// Each rule of the fake driver, with a breach of it that the driver must find, for many seeds.
#include "support/cuda_driver/fake_cuda.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "cuda/kernels/range_tables.hpp"
#include "support/cuda_driver/gpu_under_test.hpp"

namespace xtts::testing {
namespace {

using cuda::kSuccess;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kBytes = 20000;
constexpr std::uint64_t kSeedCount = 20;

// Runs `breach` for many seeds. Whatever the timing, the fault has these words each time.
void expect_fault(const ::testing::Matcher<std::string>& words,
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

TEST(FakeCuda, FindsACopyOfMemoryThatIsNotPageLocked) {
  expect_fault(HasSubstr("not page-locked from byte 0 on"), [](GpuUnderTest& gpu) {
    const auto host = some_bytes(kBytes, 1);
    const auto stream = gpu.stream();
    gpu.copy_in(gpu.memory(kBytes), host, stream);
    gpu.wait(stream);
  });
}

TEST(FakeCuda, FindsACopyOfMemoryThatIsPageLockedInPart) {
  expect_fault(HasSubstr("not page-locked from byte 4096 on"), [](GpuUnderTest& gpu) {
    auto host = some_bytes(kBytes, 1);
    const auto stream = gpu.stream();
    EXPECT_EQ(gpu.calls.lock_host_memory(host.data(), 4096, 0), kSuccess);
    gpu.copy_in(gpu.memory(kBytes), host, stream);
    gpu.wait(stream);
    EXPECT_EQ(gpu.calls.unlock_host_memory(host.data()), kSuccess);
  });
}

// Copies the two halves of `upload` by one call; the second half goes to `second_at`.
void copy_halves(const Upload& upload, std::size_t second_at) {
  constexpr std::size_t kHalf = kBytes / 2;
  const auto from = reinterpret_cast<cuda::DeviceAddress>(upload.host.data());
  std::array<cuda::DeviceAddress, 2> to = {upload.memory, upload.memory + second_at};
  std::array<cuda::DeviceAddress, 2> sources = {from, from + kHalf};
  std::array<std::size_t, 2> sizes = {kHalf, kHalf};
  cuda::CopyAttributes attributes{.source_order = cuda::kSourceInStreamOrder};
  std::size_t first = 0;
  EXPECT_EQ(upload.gpu.calls.copy_list(to.data(), sources.data(), sizes.data(), 2, &attributes,
                                       &first, 1, upload.stream),
            kSuccess);
}

TEST(FakeCuda, CopiesAListOfPieces) {
  for (std::uint64_t seed = 0; seed < kSeedCount; ++seed) {
    GpuUnderTest gpu({.seed = seed});
    Upload upload(gpu);
    copy_halves(upload, kBytes / 2);
    const auto reader = reinterpret_cast<std::uintptr_t>(upload.stream);
    bool is_equal = false;
    fake_cuda::launch_read(reader, upload.memory, kBytes,
                           [&](auto bytes) { is_equal = std::ranges::equal(bytes, upload.host); });
    fake_cuda::finish(reader);
    EXPECT_TRUE(is_equal) << seed;
  }
}

TEST(FakeCuda, FindsTwoCopiesOfOneCallThatOverlap) {
  expect_fault(HasSubstr("two copies of one call write to the same memory"), [](GpuUnderTest& gpu) {
    Upload upload(gpu);
    copy_halves(upload, kBytes / 2 - 1);
  });
}

TEST(FakeCuda, FindsAReadThatIsNotOrderedBehindTheCopy) {
  expect_fault(AllOf(HasSubstr("launch_read (stream 2, task 1) reads memory 1 at [0x0, 0x4e20)"),
                     HasSubstr("cuMemcpyHtoDAsync (stream 1, task 1), which writes it")),
               [](GpuUnderTest& gpu) {
                 Upload upload(gpu);
                 const auto reader = fake_cuda::make_stream();
                 upload.copy();
                 fake_cuda::launch_read(reader, upload.memory, kBytes);
                 fake_cuda::finish(reader);
               });
}

TEST(FakeCuda, FindsAWaitForAnEventThatWasRecordedTooEarly) {
  expect_fault(HasSubstr("is not ordered behind cuMemcpyHtoDAsync"), [](GpuUnderTest& gpu) {
    Upload upload(gpu);
    const auto event = gpu.event();
    const auto reader = fake_cuda::make_stream();
    gpu.record(event, upload.stream);
    upload.copy();
    gpu.let_wait(reinterpret_cast<cuda::StreamHandle>(reader), event);
    fake_cuda::launch_read(reader, upload.memory, kBytes);
    fake_cuda::finish(reader);
  });
}

TEST(FakeCuda, FindsAReadOfWhatNobodyWrote) {
  expect_fault(HasSubstr("of which 10 bytes were never written"), [](GpuUnderTest& gpu) {
    Upload upload(gpu);
    upload.copy();
    gpu.wait(upload.stream);
    const auto other = gpu.memory(kBytes);
    EXPECT_EQ(gpu.calls.copy_to_device(other, upload.host.data(), kBytes - 10, upload.stream),
              kSuccess);
    const auto reader = reinterpret_cast<std::uintptr_t>(upload.stream);
    fake_cuda::launch_read(reader, other, kBytes);
  });
}

TEST(FakeCuda, FindsAWriteUnderAReader) {
  expect_fault(AllOf(HasSubstr("cuMemcpyHtoDAsync (stream 1, task 3) writes memory 1"),
                     HasSubstr("launch_read (stream 2, task 2), which reads it")),
               [](GpuUnderTest& gpu) {
                 Upload upload(gpu);
                 const auto event = gpu.event();
                 const auto reader = fake_cuda::make_stream();
                 upload.copy();
                 gpu.record(event, upload.stream);
                 gpu.let_wait(reinterpret_cast<cuda::StreamHandle>(reader), event);
                 fake_cuda::launch_read(reader, upload.memory, kBytes);
                 gpu.wait(upload.stream);
                 upload.copy();
                 fake_cuda::finish(reader);
               });
}

TEST(FakeCuda, FindsAHostReadBeforeItsEvent) {
  expect_fault(HasSubstr("copy_to_host reads memory 1"), [](GpuUnderTest& gpu) {
    Upload upload(gpu);
    upload.copy();
    (void)fake_cuda::copy_to_host(upload.memory, kBytes);
  });
}

TEST(FakeCuda, LetsTheHostReadAfterASuccessfulQuery) {
  for (std::uint64_t seed = 0; seed < kSeedCount; ++seed) {
    GpuUnderTest gpu({.seed = seed, .latest = std::chrono::hours(1)});
    Upload upload(gpu);
    const auto event = gpu.event();
    upload.copy();
    gpu.record(event, upload.stream);
    while (gpu.calls.query_event(event) != kSuccess) std::this_thread::yield();
    EXPECT_EQ(fake_cuda::copy_to_host(upload.memory, kBytes), upload.host);
  }
}

TEST(FakeCuda, FindsMemoryThatIsFreedUnderACopy) {
  expect_fault(HasSubstr("cuMemFree: memory 2 is freed, but the host has not waited for"),
               [](GpuUnderTest& gpu) {
                 Upload upload(gpu);
                 cuda::DeviceAddress memory = 0;
                 EXPECT_EQ(gpu.calls.allocate(&memory, kBytes), kSuccess);
                 gpu.copy_in(memory, upload.host, upload.stream);
                 EXPECT_EQ(gpu.calls.free(memory), kSuccess);
               });
}

TEST(FakeCuda, FindsHostMemoryThatIsWrittenToUnderACopy) {
  expect_fault(HasSubstr("memory of the host"), [](GpuUnderTest& gpu) {
    Upload upload(gpu);
    upload.copy();
    upload.host[kBytes - 1] ^= std::byte{1};
    gpu.wait(upload.stream);
  });
}

// The copy has been over for long; but the host could not know.
TEST(FakeCuda, FindsHostMemoryThatIsWrittenToBeforeTheHostWaits) {
  expect_fault(HasSubstr("was written to before the host waited for it"), [](GpuUnderTest& gpu) {
    Upload upload(gpu);
    upload.copy();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    upload.host[17] ^= std::byte{1};
    gpu.wait(upload.stream);
  });
}

TEST(FakeCuda, FindsHostMemoryThatIsUnlockedUnderACopy) {
  expect_fault(HasSubstr("is unlocked, but the host has not waited for"), [](GpuUnderTest& gpu) {
    Upload upload(gpu);
    upload.copy();
    gpu.unlock(upload.host);
    gpu.wait(upload.stream);
    gpu.lock(upload.host);
  });
}

TEST(FakeCuda, FindsHostMemoryThatIsUnmappedUnderACopy) {
  expect_fault(HasSubstr("unmapped"), [](GpuUnderTest& gpu) {
    Upload upload(gpu);
    void* const pages =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_EQ(gpu.calls.lock_host_memory(pages, kBytes, 0), kSuccess);
    EXPECT_EQ(gpu.calls.copy_to_device(upload.memory, pages, kBytes, upload.stream), kSuccess);
    ::munmap(pages, kBytes);
    gpu.wait(upload.stream);
    EXPECT_EQ(gpu.calls.unlock_host_memory(pages), kSuccess);
  });
}

// A copy from the device: its bytes come late, and are the device's until the host has waited.
TEST(FakeCuda, CopiesToTheHostLate) {
  for (std::uint64_t seed = 0; seed < kSeedCount; ++seed) {
    GpuUnderTest gpu({.seed = seed});
    Upload upload(gpu);
    auto back = some_bytes(kBytes, 2);
    gpu.lock(back);
    upload.copy();
    EXPECT_EQ(gpu.calls.copy_to_host(back.data(), upload.memory, kBytes, upload.stream), kSuccess);
    gpu.wait(upload.stream);
    EXPECT_EQ(back, upload.host);
    gpu.unlock(back);
  }
}

TEST(FakeCuda, FindsAHostWriteUnderACopyToTheHost) {
  expect_fault(HasSubstr("was written to before the host waited for it"), [](GpuUnderTest& gpu) {
    Upload upload(gpu);
    auto back = some_bytes(kBytes, 2);
    gpu.lock(back);
    upload.copy();
    EXPECT_EQ(gpu.calls.copy_to_host(back.data(), upload.memory, kBytes, upload.stream), kSuccess);
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    back[0] ^= std::byte{1};
    gpu.wait(upload.stream);
    gpu.unlock(back);
  });
}

TEST(FakeCuda, FindsTwoCopiesThatUseMemoryOfTheHostWithoutAnOrder) {
  expect_fault(
      AllOf(HasSubstr("cuMemcpyHtoDAsync (stream 2, task 1) reads memory of the host"),
            HasSubstr("cuMemcpyDtoHAsync (stream 1, task 2), which writes it")),
      [](GpuUnderTest& gpu) {
        Upload upload(gpu);
        const auto other = gpu.stream();
        const auto memory = gpu.memory(kBytes);
        upload.copy();
        EXPECT_EQ(gpu.calls.copy_to_host(upload.host.data(), upload.memory, kBytes, upload.stream),
                  kSuccess);
        gpu.copy_in(memory, upload.host, other);
        gpu.wait(other);
      });
}

TEST(FakeCuda, CopiesBetweenDevices) {
  for (std::uint64_t seed = 0; seed < kSeedCount; ++seed) {
    GpuUnderTest gpu({.seed = seed, .device_count = 2});
    Upload upload(gpu);
    cuda::ContextHandle second = nullptr;
    cuda::DeviceAddress memory = 0;
    int can = 0;
    EXPECT_EQ(gpu.calls.can_access_peer(&can, 0, 1), kSuccess);
    EXPECT_EQ(can, 1);
    EXPECT_EQ(gpu.calls.retain_context(&second, 1), kSuccess);
    EXPECT_EQ(gpu.calls.push_context(second), kSuccess);
    EXPECT_EQ(gpu.calls.allocate(&memory, kBytes), kSuccess);
    EXPECT_EQ(gpu.calls.pop_context(&second), kSuccess);
    upload.copy();
    EXPECT_EQ(
        gpu.calls.copy_to_peer(memory, second, upload.memory, gpu.context, kBytes, upload.stream),
        kSuccess);
    gpu.wait(upload.stream);
    EXPECT_EQ(fake_cuda::copy_to_host(memory, kBytes), upload.host);
    EXPECT_EQ(gpu.take_faults(), "");
    EXPECT_EQ(gpu.calls.copy_to_peer(memory, gpu.context, upload.memory, gpu.context, kBytes,
                                     upload.stream),
              201);
    EXPECT_THAT(gpu.take_faults(), HasSubstr("not of the context that is given for it"));
    EXPECT_EQ(gpu.calls.copy_to_device(memory, upload.host.data(), kBytes, upload.stream), 201);
    EXPECT_THAT(gpu.take_faults(), HasSubstr("memory 2 is of context 2, but context 1 is current"));
    EXPECT_EQ(gpu.calls.push_context(second), kSuccess);
    EXPECT_EQ(gpu.calls.free(memory), kSuccess);
    EXPECT_EQ(gpu.calls.pop_context(&second), kSuccess);
    EXPECT_EQ(gpu.calls.release_context(1), kSuccess);
  }
}

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

TEST(FakeCuda, TakesNoStrangeImageAndNoStrangeKernel) {
  GpuUnderTest gpu;
  cuda::ModuleHandle module = nullptr;
  EXPECT_EQ(gpu.calls.load_module(&module, "an image"), 200);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("cuModuleLoadData"));
  (void)gpu.kernel(cuda::kFillKernel);
  cuda::FunctionHandle function = nullptr;
  EXPECT_EQ(gpu.calls.find_function(&function, gpu.module, "xtts_other"), 500);
  EXPECT_EQ(gpu.take_faults(), "");
}

cuda::FillTable fill_of(cuda::DeviceAddress address, std::size_t size_bytes) {
  cuda::FillTable table{};
  table.range_count = 1;
  table.ranges[0] = {
      .address = address, .size_bytes = size_bytes, .bits = 0xABCD, .element_bytes = 2};
  return table;
}

TEST(FakeCuda, FindsAKernelThatIsNotOrderedBehindACopy) {
  expect_fault(HasSubstr("xtts_fill_ranges (stream 2, task 1) writes memory 1 at [0x2, 0x6)"),
               [](GpuUnderTest& gpu) {
                 Upload upload(gpu);
                 const auto other = gpu.stream();
                 upload.copy();
                 EXPECT_EQ(gpu.launch(cuda::kFillKernel, fill_of(upload.memory + 2, 4), other, 1),
                           kSuccess);
                 gpu.wait(other);
               });
}

TEST(FakeCuda, RefusesLaunchesThatTheGpuWouldRefuse) {
  GpuUnderTest gpu;
  const auto stream = gpu.stream();
  const auto memory = gpu.memory(kBytes);
  auto table = fill_of(memory, 8);
  EXPECT_EQ(gpu.launch(cuda::kFillKernel, table, stream, 2), 1);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("grid.y is 2, but the table has 1 ranges"));
  EXPECT_EQ(gpu.launch(cuda::kFillKernel, table, stream, 65536), 1);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("grid.y is 65536"));
  table.ranges[0].address += 1;
  EXPECT_EQ(gpu.launch(cuda::kFillKernel, table, stream, 1), 1);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("no multiple of 2"));
  table = fill_of(memory, kBytes + 2);
  EXPECT_EQ(gpu.launch(cuda::kFillKernel, table, stream, 1), 1);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("are no device memory"));
  table = fill_of(memory, 8);
  table.range_count = 2;
  table.ranges[1] = table.ranges[0];
  EXPECT_EQ(gpu.launch(cuda::kFillKernel, table, stream, 2), kSuccess);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("that its other threads use"));
  void* parameters[] = {&table};
  EXPECT_EQ(gpu.calls.launch(gpu.kernel(cuda::kFillKernel), 1, 2, 1, 512, 4, 1, 0, stream,
                             parameters, nullptr),
            1);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("a block has 2048 threads"));
}

TEST(FakeCuda, FindsAModuleThatIsUnloadedUnderAKernel) {
  expect_fault(HasSubstr("cuModuleUnload: module 1 is unloaded, but the host has not waited for"),
               [](GpuUnderTest& gpu) {
                 const auto stream = gpu.stream();
                 const auto memory = gpu.memory(kBytes);
                 EXPECT_EQ(gpu.launch(cuda::kFillKernel, fill_of(memory, 4), stream, 1), kSuccess);
                 EXPECT_EQ(gpu.calls.unload_module(gpu.module), kSuccess);
                 gpu.module = nullptr;
               });
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
  fake_cuda_fail("cuMemAlloc", 2, 2);
  cuda::DeviceAddress memory = 0;
  EXPECT_EQ(gpu.calls.allocate(&memory, 1), cuda::kOutOfMemory);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("launch_read"));
}

}  // namespace
}  // namespace xtts::testing
