// A correct program, as the device "cuda" makes it, finds no fault on any seed, and right bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <random>

#include "cuda/kernels/range_work.hpp"
#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cuda_driver/gpu_under_test.hpp"

namespace xtts::testing {
namespace {

constexpr std::size_t kCopiedBytes = 3000;
constexpr std::size_t kFilledBytes = 1002;  // behind the copied ones
constexpr std::size_t kValueCount = 500;    // bfloat16, widened to float32 behind those
constexpr std::size_t kWidenedOffset = 4008;
constexpr std::size_t kSlotBytes = kWidenedOffset + 4 * kValueCount;

// One slot of a loader: it is filled, uploaded, and read by streams of consumers.
struct Slot {
  explicit Slot(GpuUnderTest& gpu)
      : staging(kCopiedBytes),
        values(2 * kValueCount),
        stream(gpu.stream()),
        uploaded(gpu.event()),
        data(gpu.memory(kSlotBytes)),
        arrivals(gpu.memory(2 * kValueCount)) {
    gpu.lock(staging);
    gpu.lock(values);
  }

  std::vector<std::byte> staging;
  std::vector<std::byte> values;
  cuda::StreamHandle stream;
  cuda::EventHandle uploaded;
  cuda::DeviceAddress data;
  cuda::DeviceAddress arrivals;
  std::vector<std::byte> expected;
  struct Reader {
    std::uintptr_t stream = 0;
    cuda::EventHandle done = nullptr;
  };
  std::vector<Reader> readers;
  bool is_uploaded = false;
};

void fill(Slot& slot, unsigned seed) {
  std::ranges::copy(some_bytes(kCopiedBytes, seed), slot.staging.begin());
  std::ranges::copy(some_bytes(2 * kValueCount, seed + 1), slot.values.begin());
  slot.expected = slot.staging;
  slot.expected.resize(kSlotBytes);
  for (std::size_t i = 0; i < kFilledBytes; ++i) {
    slot.expected[kCopiedBytes + i] = static_cast<std::byte>(i % 2 == 0 ? 0xCD : 0xAB);
  }
  for (std::size_t i = 0; i < kValueCount; ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, slot.values.data() + 2 * i, 2);
    half &= 0xBF7F;  // no NaN: it may change its bits on the way
    std::memcpy(slot.values.data() + 2 * i, &half, 2);
    const float value = from_bfloat16(half);
    std::memcpy(slot.expected.data() + kWidenedOffset + 4 * i, &value, 4);
  }
}

void upload(GpuUnderTest& gpu, Slot& slot, bool host_waits_for_readers) {
  for (const auto& reader : slot.readers) {
    if (host_waits_for_readers) {
      gpu.wait(reader.done);
    } else {
      gpu.let_wait(slot.stream, reader.done);
    }
  }
  slot.readers.clear();
  gpu.copy_in(slot.data, slot.staging, slot.stream);
  gpu.copy_in(slot.arrivals, slot.values, slot.stream);
  cuda::FillTable filled{};
  filled.range_count = 1;
  filled.ranges[0] = {.address = slot.data + kCopiedBytes,
                      .size_bytes = kWidenedOffset - kCopiedBytes,
                      .bits = 0,
                      .element_bytes = 1};
  EXPECT_EQ(gpu.launch(cuda::kFillKernel, filled, slot.stream, 1), cuda::kSuccess);
  // A launch takes a copy of its table, so the table may change at once.
  filled.ranges[0] = {.address = slot.data + kCopiedBytes,
                      .size_bytes = kFilledBytes,
                      .bits = 0xABCD,
                      .element_bytes = 2};
  EXPECT_EQ(gpu.launch(cuda::kFillKernel, filled, slot.stream, 1), cuda::kSuccess);
  cuda::ChangeTable changed{};
  changed.range_count = 1;
  changed.from_type = static_cast<std::uint64_t>(DType::kBFloat16);
  changed.to_type = static_cast<std::uint64_t>(DType::kFloat32);
  changed.ranges[0] = {
      .from = slot.arrivals, .to = slot.data + kWidenedOffset, .value_count = kValueCount};
  EXPECT_EQ(gpu.launch(cuda::kChangeKernel, changed, slot.stream, 1), cuda::kSuccess);
  gpu.record(slot.uploaded, slot.stream);
  slot.is_uploaded = true;
}

void read(GpuUnderTest& gpu, Slot& slot, std::uintptr_t stream, std::atomic<int>& wrong_count) {
  const auto handle = reinterpret_cast<cuda::StreamHandle>(stream);
  gpu.let_wait(handle, slot.uploaded);
  fake_cuda::launch_read(stream, slot.data, kSlotBytes,
                         [&wrong_count, expected = slot.expected](const auto& bytes) {
                           if (bytes != expected) ++wrong_count;
                         });
  slot.readers.push_back({.stream = stream, .done = gpu.event()});
  gpu.record(slot.readers.back().done, handle);
}

TEST(FakeCuda, FindsNothingWrongWithACorrectProgram) {
  constexpr std::uint64_t kSeedCount = 1000;
  constexpr unsigned kRoundCount = 6;
  for (std::uint64_t seed = 0; seed < kSeedCount; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::size_t count) { return random() % count; };
    std::atomic<int> wrong_count = 0;
    GpuUnderTest gpu({.seed = seed, .latest = std::chrono::milliseconds(1)});
    {
      std::vector<std::unique_ptr<Slot>> slots;
      for (int i = 0; i < 2; ++i) slots.push_back(std::make_unique<Slot>(gpu));
      const std::vector<std::uintptr_t> streams{fake_cuda::make_stream(0, false),
                                                fake_cuda::make_stream(0, true), 1, 2};
      for (unsigned round = 0; round < kRoundCount; ++round) {
        Slot& slot = *slots[below(slots.size())];
        if (slot.is_uploaded) gpu.wait(slot.stream);
        fill(slot, round);
        upload(gpu, slot, below(2) == 0);
        const std::size_t reader_count = below(3);
        for (std::size_t i = 0; i < reader_count; ++i) {
          read(gpu, slot, streams[below(streams.size())], wrong_count);
        }
        if (below(4) == 0) {
          gpu.wait(slot.uploaded);
          EXPECT_EQ(fake_cuda::copy_to_host(slot.data, kSlotBytes), slot.expected);
        }
      }
      for (const auto& slot : slots) {
        gpu.wait(slot->stream);
        for (const auto& reader : slot->readers) gpu.wait(reader.done);
      }
      for (const std::uintptr_t stream : streams) fake_cuda::finish(stream);
      for (const auto& slot : slots) {
        gpu.unlock(slot->staging);
        gpu.unlock(slot->values);
      }
    }
    gpu.close();
    EXPECT_EQ(wrong_count, 0);
    EXPECT_EQ(gpu.take_faults(), "");
    EXPECT_THAT(fake_cuda::leftovers(), ::testing::IsEmpty());
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace xtts::testing
