// Tests of the ring with known work: each part writes a number that tells its step, and has the
// device fill as many bytes with another number.
#include "loader/ring.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "base/try.hpp"
#include "device/device.hpp"
#include "support/device_under_test.hpp"

namespace xtts::loader {
namespace {

constexpr std::uint32_t kParts = 5;
constexpr std::size_t kPartBytes = 2 * sizeof(std::uint64_t);

std::uint64_t number_of(std::uint64_t step, std::uint32_t part) {
  return step * 1000 + part + 1;
}

class NumberWork final : public BatchWork {
 public:
  [[nodiscard]] Status begin(BatchSlot& slot, std::uint64_t step) override {
    slot.step = step;
    slot.part_count = kParts;
    return step == fails_at_begin ? Status(StatusCode::kCorrupt, "begin") : Status();
  }
  [[nodiscard]] Status fill_part(BatchSlot& slot, std::uint32_t part) override {
    ++parts;
    {
      const std::scoped_lock lock(mutex_);
      filled_by_.insert(std::this_thread::get_id());
    }
    if (slot.step == throws_at) throw std::bad_alloc();
    if (slot.step == fails_at_part && part == 3) return {StatusCode::kCorrupt, "part"};
    const std::uint64_t number = number_of(slot.step, part);
    std::memcpy(slot.memory->staging().data() + part * kPartBytes, &number, sizeof number);
    slot.memory->fill(part * kPartBytes + sizeof number, sizeof number,
                      {.bits = ~number, .element_bytes = sizeof number});
    return {};
  }
  void drop_part(BatchSlot& /*slot*/, std::uint32_t /*part*/) noexcept override { ++parts; }
  void drop(BatchSlot& /*slot*/) override { ++dropped; }
  [[nodiscard]] Status finish(BatchSlot& slot) override {
    ++finished;
    XTTS_ASSIGN(slot.finished.uploaded, slot.memory->upload());
    return {};
  }

  [[nodiscard]] std::set<std::thread::id> filled_by() const {
    const std::scoped_lock lock(mutex_);
    return filled_by_;
  }

  std::uint64_t fails_at_begin = UINT64_MAX;
  std::uint64_t fails_at_part = UINT64_MAX;
  std::uint64_t throws_at = UINT64_MAX;
  std::atomic<std::uint64_t> finished = 0;
  std::atomic<std::uint64_t> dropped = 0;
  std::atomic<std::uint64_t> parts = 0;  // parts that were filled or dropped

 private:
  mutable std::mutex mutex_;
  std::set<std::thread::id> filled_by_;
};

class RingOn : public ::testing::TestWithParam<testing::DeviceChoice> {
 protected:
  [[nodiscard]] std::vector<std::unique_ptr<device::SlotMemory>> make_slots(
      std::size_t count) const {
    std::vector<std::unique_ptr<device::SlotMemory>> slots;
    for (std::size_t i = 0; i < count; ++i) {
      auto slot = device_.device()->make_slot({.staging = kParts * kPartBytes});
      EXPECT_TRUE(slot.ok());
      slots.push_back(std::move(*slot));
    }
    return slots;
  }
  [[nodiscard]] static std::vector<std::uint64_t> numbers_of(const BatchSlot& slot) {
    EXPECT_TRUE(slot.finished.uploaded->wait().ok());
    std::vector<std::uint64_t> numbers(2 * kParts);
    const auto bytes = testing::read_from(slot.memory->device(),
                                          {slot.memory->consumer_data(), kParts * kPartBytes});
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }
  static void expect_batch(const Result<std::optional<Lease>>& lease, std::uint64_t step) {
    ASSERT_TRUE(lease.ok()) << lease.status().message();
    ASSERT_TRUE(lease->has_value()) << "step " << step;
    EXPECT_EQ((**lease)->step, step);
    EXPECT_EQ(numbers_of(***lease), numbers_of(step));
  }
  [[nodiscard]] static std::vector<std::uint64_t> numbers_of(std::uint64_t step) {
    std::vector<std::uint64_t> numbers;
    for (std::uint32_t part = 0; part < kParts; ++part) {
      numbers.push_back(number_of(step, part));
      numbers.push_back(~number_of(step, part));
    }
    return numbers;
  }

  testing::DeviceUnderTest device_{GetParam()};
};

TEST_P(RingOn, GoesOnBehindItsEndWhenTheEndMoves) {
  NumberWork work;
  Ring ring(work, make_slots(3), 2);
  ring.resume(0, 3);
  for (std::uint64_t end = 3; end < 40; end += 5) {
    for (std::uint64_t step = end == 3 ? 0 : end - 5; step < end; ++step) {
      expect_batch(ring.next(), step);
    }
    EXPECT_FALSE(ring.next()->has_value());
    ring.extend(end + 5);
  }
}

TEST_P(RingOn, BringsEveryStepInOrderWithAnyNumberOfThreads) {
  for (const std::uint32_t threads : {1U, 2U, 7U}) {
    NumberWork work;
    Ring ring(work, make_slots(3), threads);
    ring.resume(0, 200);
    for (std::uint64_t step = 0; step < 200; ++step) expect_batch(ring.next(), step);
    const auto end = ring.next();
    ASSERT_TRUE(end.ok());
    EXPECT_FALSE(end->has_value());
    EXPECT_EQ(work.finished, 200U);
  }
}

TEST_P(RingOn, ConsumerThatWaitsGetsEveryStepAndFillsNone) {
  for (const std::uint32_t threads : {1U, 3U}) {
    NumberWork work;
    Ring ring(work, make_slots(3), threads, Consumer::kWaits);
    ring.resume(0, 200);
    std::vector<Lease> kept;  // two of three slots, so that fillers wait for memory
    for (std::uint64_t step = 0; step < 200; ++step) {
      const auto lease = ring.next();
      expect_batch(lease, step);
      if (kept.size() == 2) kept.clear();
      kept.push_back(**lease);
    }
    EXPECT_FALSE(work.filled_by().contains(std::this_thread::get_id()));
  }
}

TEST_P(RingOn, NoStepsAreAnEndAtOnce) {
  NumberWork work;
  Ring ring(work, make_slots(3), 2);
  ring.resume(7, 7);
  const auto end = ring.next();
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->has_value());
}

TEST_P(RingOn, FailedBatchIsToldAndTheNextOneComes) {
  NumberWork work;
  work.fails_at_begin = 1;
  work.fails_at_part = 2;
  work.throws_at = 3;
  Ring ring(work, make_slots(3), 2);
  ring.resume(0, 5);
  expect_batch(ring.next(), 0);
  EXPECT_EQ(ring.next().status().message(), "begin");
  EXPECT_EQ(ring.next().status().message(), "part");
  EXPECT_EQ(ring.next().status().code(), StatusCode::kResource);
  expect_batch(ring.next(), 4);
  EXPECT_EQ(work.dropped, 2U);  // what never began holds nothing
}

TEST_P(RingOn, KeepingAllSlotsIsAClearErrorAndLettingGoMendsIt) {
  NumberWork work;
  Ring ring(work, make_slots(3), 2);
  ring.resume(0, 10);
  std::vector<Lease> kept;
  for (std::uint64_t step = 0; step < 3; ++step) {
    auto lease = ring.next();
    expect_batch(lease, step);
    kept.push_back(**lease);
  }
  const auto refused = ring.next();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kBusy);
  EXPECT_NE(refused.status().message().find("all 3 batch slots are held"), std::string::npos);
  kept.erase(kept.begin() + 1);
  expect_batch(ring.next(), 3);
  // The kept batches have not changed.
  EXPECT_EQ(kept[0]->step, 0U);
  EXPECT_EQ(kept[1]->step, 2U);
}

// Few slots come back where the consumer keeps most of them. Batches are still filled ahead.
TEST_P(RingOn, FillsAheadForAConsumerThatKeepsMostSlots) {
  NumberWork work;
  Ring ring(work, make_slots(8), 1);
  ring.resume(0, 100);
  std::vector<Lease> kept;
  for (std::uint64_t step = 0; step < 5; ++step) kept.push_back(**ring.next());
  const auto wait_until_finished = [&](std::uint64_t count) {
    for (int i = 0; i < 5'000 && work.finished < count; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return work.finished.load();
  };
  ASSERT_EQ(wait_until_finished(8), 8U);
  // Three slots go round. No consumer waits, and two of them are full all the same: one free slot
  // is too few to wake a thread, but one that is awake fills it, too.
  for (std::uint64_t step = 5; step < 25; ++step) {
    expect_batch(ring.next(), step);
    ASSERT_GE(wait_until_finished(step + 3), step + 3);
  }
}

TEST_P(RingOn, LeaseOutlivesTheRing) {
  Lease lease;
  {
    NumberWork work;
    Ring ring(work, make_slots(3), 2);
    ring.resume(0, 10);
    lease = **ring.next();
  }
  EXPECT_EQ(numbers_of(*lease), numbers_of(0));
}

TEST_P(RingOn, LeasesAreReturnedFromAnyThread) {
  NumberWork work;
  Ring ring(work, make_slots(4), 2);
  ring.resume(0, 500);
  std::thread other;
  for (std::uint64_t step = 0; step < 500; ++step) {
    auto lease = ring.next();
    expect_batch(lease, step);
    if (other.joinable()) other.join();
    other = std::thread([kept = std::move(**lease)]() mutable { kept.reset(); });
  }
  other.join();
}

TEST_P(RingOn, PausesInTheMiddleAndGoesOnElsewhere) {
  NumberWork work;
  Ring ring(work, make_slots(3), 3);
  ring.resume(0, 1000);
  for (std::uint64_t round = 0; round < 100; ++round) {
    expect_batch(ring.next(), round * 10);
    ring.pause();
    ring.resume((round + 1) * 10, 2000);
  }
}

TEST_P(RingOn, BatchKeptOverAPauseStaysWhole) {
  NumberWork work;
  Ring ring(work, make_slots(3), 2);
  ring.resume(0, 10);
  const auto kept = ring.next();
  ring.pause();
  ring.resume(100, 200);
  for (std::uint64_t step = 100; step < 150; ++step) expect_batch(ring.next(), step);
  expect_batch(kept, 0);
}

TEST_P(RingOn, EndsWhileItsThreadsWaitForSlots) {
  NumberWork work;
  const auto ring = std::make_unique<Ring>(work, make_slots(3), 4);
  ring->resume(0, 1000);
  expect_batch(ring->next(), 0);
}

// A consumer on the device drops its leases once its work is queued.
TEST_P(RingOn, MemoryIsFilledAgainWhenTheConsumersStreamIsDoneWithIt) {
  if (!device_.has_own_memory()) return;  // the CPU has no streams
  NumberWork work;
  const auto stream = device_.make_stream();
  std::atomic<std::uint64_t> sound_count = 0;
  {
    Ring ring(work, make_slots(3), 2);
    ring.resume(0, 100);
    for (std::uint64_t step = 0; step < 100; ++step) {
      const auto lease = **ring.next();
      ASSERT_TRUE(lease->finished.uploaded->let_wait(stream).ok());
      const std::size_t size_bytes = kParts * kPartBytes;
      device_.launch(stream, lease->memory->consumer_data(), size_bytes,
                     [&sound_count, step](const std::vector<std::byte>& bytes) {
                       const auto wanted = numbers_of(step);
                       if (std::memcmp(bytes.data(), wanted.data(), bytes.size()) == 0)
                         ++sound_count;
                     });
    }
  }
  device_.finish(stream);
  EXPECT_EQ(sound_count, 100U);
}

// The wait before a slot is filled again fails, or an upload.
TEST_P(RingOn, BatchWhoseFillingOrUploadFailsIsToldAndTheNextOneComes) {
  if (device_.has_own_memory()) GTEST_SKIP() << "the device that fails has the name of the CPU";
  if (!testing::cuda_under_test::is_double()) GTEST_SKIP() << "a real driver fails no call";
  for (const std::string call : {"cuEventSynchronize", "cuEventRecord"}) {
    SCOPED_TRACE(call);
    const testing::DeviceUnderTest failing(testing::DeviceChoice::kCuda, {.name = call, .nth = 2});
    std::vector<std::unique_ptr<device::SlotMemory>> slots;
    for (int i = 0; i < 3; ++i) {
      slots.push_back(std::move(*failing.device()->make_slot({.staging = kParts * kPartBytes})));
    }
    NumberWork work;
    Ring ring(work, std::move(slots), 1);
    ring.resume(0, 20);
    std::uint64_t failed_count = 0;
    for (std::uint64_t step = 0; step < 20; ++step) {
      const auto lease = ring.next();
      if (!lease.ok()) {
        EXPECT_EQ(lease.status().code(), StatusCode::kResource);
        ++failed_count;
      } else if (call == "cuEventRecord") {
        expect_batch(lease, step);
      } else {
        EXPECT_EQ((**lease)->step, step);  // a look at its bytes would make the call that fails
      }
    }
    EXPECT_EQ(failed_count, 1U);
    EXPECT_EQ(work.parts, 20U * kParts);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, RingOn, testing::all_devices(),
                         [](const auto& choice) { return testing::name_of(choice.param); });

}  // namespace
}  // namespace xtts::loader
