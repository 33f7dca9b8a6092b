// The fake driver's rules of copies and memory, with a breach of each that it must find, for many
// seeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "support/cuda_driver/breach.hpp"
#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cuda_driver/gpu_under_test.hpp"

namespace xtts::testing {
namespace {

using cuda::kSuccess;
using ::testing::AllOf;
using ::testing::HasSubstr;

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
    // Far from all other memory, because another thread's next pages would fill the hole.
    void* const far_away = reinterpret_cast<void*>(std::uintptr_t{1} << 45U);
    void* const pages =
        ::mmap(far_away, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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

}  // namespace
}  // namespace xtts::testing
