// The ring with work whose content is known: each part writes a number that tells its step.
#include "loader/ring.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <new>
#include <set>
#include <thread>

#include "gpu/device.hpp"

namespace xtts::loader {
namespace {

constexpr std::uint32_t kParts = 5;

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
    if (slot.step == throws_at) throw std::bad_alloc();
    if (slot.step == fails_at_part && part == 3) return {StatusCode::kCorrupt, "part"};
    const std::uint64_t number = number_of(slot.step, part);
    std::memcpy(slot.memory->host().data() + part * sizeof number, &number, sizeof number);
    return {};
  }
  [[nodiscard]] Status finish(BatchSlot&) override {
    ++finished;
    return {};
  }

  std::uint64_t fails_at_begin = UINT64_MAX;
  std::uint64_t fails_at_part = UINT64_MAX;
  std::uint64_t throws_at = UINT64_MAX;
  std::atomic<std::uint64_t> finished = 0;
};

std::vector<std::unique_ptr<gpu::SlotMemory>> make_slots(std::size_t count) {
  const auto device = gpu::Device::open("cpu");
  std::vector<std::unique_ptr<gpu::SlotMemory>> slots;
  for (std::size_t i = 0; i < count; ++i) {
    auto slot = (*device)->make_slot(kParts * sizeof(std::uint64_t));
    EXPECT_TRUE(slot.ok());
    slots.push_back(std::move(*slot));
  }
  return slots;
}

void expect_batch(const Result<std::optional<Lease>>& lease, std::uint64_t step) {
  ASSERT_TRUE(lease.ok()) << lease.status().message();
  ASSERT_TRUE(lease->has_value()) << "step " << step;
  EXPECT_EQ((**lease)->step, step);
  for (std::uint32_t part = 0; part < kParts; ++part) {
    std::uint64_t number = 0;
    std::memcpy(&number, (**lease)->memory->consumer_data() + part * sizeof number, sizeof number);
    EXPECT_EQ(number, number_of(step, part));
  }
}

TEST(Ring, GoesOnBehindItsEndWhenTheEndMoves) {
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

TEST(Ring, BringsEveryStepInOrderWithAnyNumberOfThreads) {
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

TEST(Ring, NoStepsAreAnEndAtOnce) {
  NumberWork work;
  Ring ring(work, make_slots(3), 2);
  ring.resume(7, 7);
  const auto end = ring.next();
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->has_value());
}

TEST(Ring, FailedBatchIsToldAndTheNextOneComes) {
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
}

TEST(Ring, KeepingAllSlotsIsAClearErrorAndLettingGoMendsIt) {
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
  // What was kept is still what it was.
  EXPECT_EQ(kept[0]->step, 0U);
  EXPECT_EQ(kept[1]->step, 2U);
}

// Who keeps most of the slots has few that come back, and still batches filled ahead.
TEST(Ring, FillsAheadForAConsumerThatKeepsMostSlots) {
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
  expect_batch(ring.next(), 5);
  expect_batch(ring.next(), 6);
  EXPECT_EQ(wait_until_finished(10), 10U);  // with nobody waiting for them
}

TEST(Ring, LeaseOutlivesTheRing) {
  Lease lease;
  {
    NumberWork work;
    Ring ring(work, make_slots(3), 2);
    ring.resume(0, 10);
    lease = **ring.next();
  }
  std::uint64_t number = 0;
  std::memcpy(&number, lease->memory->consumer_data(), sizeof number);
  EXPECT_EQ(number, number_of(0, 0));
}

TEST(Ring, LeasesAreReturnedFromAnyThread) {
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

TEST(Ring, PausesInTheMiddleAndGoesOnElsewhere) {
  NumberWork work;
  Ring ring(work, make_slots(3), 3);
  ring.resume(0, 1000);
  for (std::uint64_t round = 0; round < 100; ++round) {
    expect_batch(ring.next(), round * 10);
    ring.pause();
    ring.resume((round + 1) * 10, 2000);
  }
}

TEST(Ring, BatchKeptOverAPauseStaysWhole) {
  NumberWork work;
  Ring ring(work, make_slots(3), 2);
  ring.resume(0, 10);
  const auto kept = ring.next();
  ring.pause();
  ring.resume(100, 200);
  for (std::uint64_t step = 100; step < 150; ++step) expect_batch(ring.next(), step);
  expect_batch(kept, 0);
}

TEST(Ring, EndsWhileItsThreadsWaitForSlots) {
  NumberWork work;
  const auto ring = std::make_unique<Ring>(work, make_slots(3), 4);
  ring->resume(0, 1000);
  expect_batch(ring->next(), 0);
}

}  // namespace
}  // namespace xtts::loader
