// Tests of the staging memory with a queue that returns reads in any order, some of them not whole.
#include "loader/record_staging.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/device_under_test.hpp"
#include "support/made_direct_queue.hpp"
#include "support/memory_env.hpp"
#include "support/temp_folder.hpp"

namespace xtts::loader {
namespace {

constexpr std::size_t kRecord = 5000;  // records do not begin and end on sectors
constexpr std::size_t kRecords = 200;

class RecordStagingTest : public ::testing::Test {
 public:
  [[nodiscard]] static bool is_record(std::span<const std::byte> bytes, std::size_t record) {
    return bytes.size() == kRecord && std::ranges::all_of(bytes, [&](std::byte byte) {
             return byte == static_cast<std::byte>(letter(record));
           });
  }

 protected:
  RecordStagingTest() {
    std::string text;
    for (std::size_t i = 0; i < kRecords; ++i) text.append(kRecord, letter(i));
    file_ = testing::made_direct_file(folder_.write("records", text));
  }

  [[nodiscard]] static char letter(std::size_t record) {
    return static_cast<char>('A' + record % 50);
  }
  [[nodiscard]] std::unique_ptr<RecordStaging> open(std::uint64_t memory_bytes = 64 << 10,
                                                    std::uint32_t depth = 6) {
    auto staging = RecordStaging::open(
        env_, {.record_bytes_max = kRecord, .memory_bytes = memory_bytes, .depth = depth});
    EXPECT_TRUE(staging.ok()) << staging.status().message();
    return std::move(*staging);
  }
  [[nodiscard]] std::vector<std::uint64_t> add_all(RecordStaging& staging) const {
    std::vector<std::uint64_t> tickets;
    for (std::size_t i = 0; i < kRecords; ++i) {
      tickets.push_back(staging.add(file_, i * kRecord, kRecord));
    }
    return tickets;
  }

  testing::TempFolder folder_;
  testing::MadeDirectEnv env_;
  std::shared_ptr<const DirectFile> file_;
};

TEST_F(RecordStagingTest, BringsEveryRecordThroughFewCells) {
  for (const std::uint64_t memory_bytes : {1, 64 << 10, 16 << 20}) {
    const auto staging = open(memory_bytes);
    const auto tickets = add_all(*staging);
    EXPECT_TRUE(std::ranges::is_sorted(tickets));
    for (std::size_t i = 0; i < kRecords; ++i) {
      EXPECT_TRUE(is_record(staging->wait_for(tickets[i]), i)) << i;
      staging->release(tickets[i]);
    }
    EXPECT_EQ(staging->failed_count(), 0U);
  }
}

TEST_F(RecordStagingTest, MemoryAndReadsAtOnceAreBounded) {
  const auto staging = open(64 << 10, 3);
  EXPECT_LE(staging->memory_bytes(), 64U << 10U);
  EXPECT_GE(staging->cell_count(), std::uint64_t{kStagingCellsMin});
  const auto tickets = add_all(*staging);
  for (const std::uint64_t ticket : tickets) {
    (void)staging->wait_for(ticket);
    staging->release(ticket);
  }
  EXPECT_LE(env_.faults->in_flight_max, 3U);
  EXPECT_EQ(open(1)->cell_count(), std::uint64_t{kStagingCellsMin});
}

TEST_F(RecordStagingTest, SlowConsumerStopsTheReading) {
  const auto staging = open(64 << 10, 64);
  const auto tickets = add_all(*staging);
  EXPECT_TRUE(is_record(staging->wait_for(tickets[0]), 0));
  EXPECT_LE(env_.faults->in_flight_max, staging->cell_count());
  staging->clear();
  EXPECT_LE(env_.faults->read_count, staging->cell_count());
}

TEST_F(RecordStagingTest, SeveralThreadsTakeTheirPartsInAnyOrder) {
  for (const std::size_t thread_count : {2U, 5U}) {
    const auto staging = open();
    const auto tickets = add_all(*staging);
    std::atomic<std::size_t> next_part = 0;
    std::atomic<std::size_t> right_count = 0;
    constexpr std::size_t kPart = 4;
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < thread_count; ++t) {
      threads.emplace_back([&] {
        for (;;) {
          const std::size_t part = next_part++;
          if (part * kPart >= kRecords) return;
          for (std::size_t i = part * kPart; i < (part + 1) * kPart; ++i) {
            if (is_record(staging->wait_for(tickets[i]), i)) ++right_count;
            staging->release(tickets[i]);
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right_count, kRecords);
  }
}

TEST_F(RecordStagingTest, ReleasedWithoutBeingWaitedForIsFineAtAnyTime) {
  const auto staging = open();
  const auto tickets = add_all(*staging);
  for (std::size_t i = 0; i < kRecords; i += 3) staging->release(tickets[i]);
  for (std::size_t i = 0; i < kRecords; ++i) {
    if (i % 3 == 0) continue;
    EXPECT_TRUE(is_record(staging->wait_for(tickets[i]), i)) << i;
    staging->release(tickets[i]);
  }
}

TEST_F(RecordStagingTest, FailedAndShortReadsAreLeftToTheOrdinaryPath) {
  env_.faults->on_done = [](std::uint64_t number, const DirectRead& read, DirectDone& done) {
    if (number % 5 == 1) done = {.tag = read.tag, .error = EIO};
    if (number % 5 == 2) done = {.tag = read.tag, .error = ECANCELED};
    if (number % 5 == 3) done.read_bytes = 512;
  };
  const auto staging = open();
  const auto tickets = add_all(*staging);
  std::size_t failed_count = 0;
  for (std::size_t i = 0; i < kRecords; ++i) {
    const auto bytes = staging->wait_for(tickets[i]);
    if (bytes.empty()) ++failed_count;
    EXPECT_TRUE(bytes.empty() || is_record(bytes, i));
    staging->release(tickets[i]);
  }
  EXPECT_EQ(failed_count, kRecords / 5 * 3);
  EXPECT_EQ(staging->failed_count(), failed_count);
}

TEST_F(RecordStagingTest, KernelThatTakesNoReadsLeavesAllToTheOrdinaryPath) {
  bool is_busy = true;
  env_.faults->on_submit = [&](std::size_t count) -> Result<std::size_t> {
    is_busy = !is_busy;
    if (is_busy) return std::size_t{0};
    return count > 1 ? Result<std::size_t>(count / 2)
                     : Result<std::size_t>(Status(StatusCode::kUnsupported, "forbidden"));
  };
  const auto staging = open();
  const auto tickets = add_all(*staging);
  for (std::size_t i = 0; i < kRecords; ++i) {
    const auto bytes = staging->wait_for(tickets[i]);
    EXPECT_TRUE(bytes.empty() || is_record(bytes, i));
    staging->release(tickets[i]);
  }
  EXPECT_GT(staging->failed_count(), 0U);
}

TEST_F(RecordStagingTest, QueueThatNoLongerAnswersLeavesAllToTheOrdinaryPath) {
  for (const bool clears : {false, true}) {
    env_.faults->is_lost = false;
    const auto staging = open();
    const auto tickets = add_all(*staging);
    EXPECT_TRUE(is_record(staging->wait_for(tickets[0]), 0));
    staging->release(tickets[0]);
    env_.faults->is_lost = true;
    // Some of these had been read before.
    for (std::size_t i = 1; i < kRecords; ++i) {
      const auto bytes = staging->wait_for(tickets[i]);
      EXPECT_TRUE(bytes.empty() || is_record(bytes, i));
      staging->release(tickets[i]);
    }
    if (clears) staging->clear();
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t fresh = staging->add(file_, 0, kRecord);
      EXPECT_TRUE(staging->wait_for(fresh).empty());
      staging->release(fresh);
    }
  }
}

TEST_F(RecordStagingTest, AThreadMayHoldAsManyTicketsAsItHasSaid) {
  constexpr std::uint32_t kHeld = 20;
  const auto staging = RecordStaging::open(
      env_, {.record_bytes_max = kRecord, .memory_bytes = 1, .depth = 3, .held_count_max = kHeld});
  ASSERT_TRUE(staging.ok()) << staging.status().message();
  const auto tickets = add_all(**staging);
  for (std::size_t first = 0; first < kRecords; first += kHeld) {
    for (std::size_t i = first; i < first + kHeld; ++i) {
      EXPECT_TRUE(is_record((*staging)->wait_for(tickets[i]), i));
    }
    for (std::size_t i = first; i < first + kHeld; ++i) (*staging)->release(tickets[i]);
  }
}

// The end of an upload. It happens when somebody waits for it, or after some looks, and finds out
// whether the records that were borrowed are still there.
class LateEvent final : public device::BorrowingEnd {
 public:
  struct Record {
    std::span<const std::byte> bytes;
    std::size_t number = 0;
  };
  LateEvent(std::vector<Record> borrowed, std::uint64_t looks, bool is_lost = false)
      : borrowed_(std::move(borrowed)), looks_left_(looks), is_lost_(is_lost) {}
  [[nodiscard]] Status wait() const override {
    if (is_lost_) return {StatusCode::kResource, "lost"};
    happen();
    return {};
  }
  [[nodiscard]] bool has_happened() const noexcept override {
    if (looks_left_ > 0) --looks_left_;
    if (looks_left_ == 0 && !is_lost_) happen();
    return has_happened_;
  }
  [[nodiscard]] bool was_right() const { return is_right_; }

 private:
  void happen() const {
    if (has_happened_.exchange(true)) return;
    for (const Record& record : borrowed_) {
      if (!RecordStagingTest::is_record(record.bytes, record.number)) is_right_ = false;
    }
  }

  std::vector<Record> borrowed_;
  mutable std::atomic<std::uint64_t> looks_left_;
  const bool is_lost_;
  mutable std::atomic<bool> has_happened_ = false;
  mutable std::atomic<bool> is_right_ = true;
};

// Batches of so many records are borrowed whole.
constexpr std::uint32_t kBorrowedAtOnce = 10;

// Borrows a batch: waits for its records, and gives them back for the time of `looks` looks.
std::shared_ptr<LateEvent> borrow_batch(RecordStaging& staging,
                                        const std::vector<std::uint64_t>& tickets,
                                        std::size_t first, std::uint64_t looks,
                                        bool is_lost = false) {
  std::vector<LateEvent::Record> records;
  for (std::size_t i = first; i < first + kBorrowedAtOnce; ++i) {
    const auto bytes = staging.wait_for(tickets[i]);
    EXPECT_TRUE(RecordStagingTest::is_record(bytes, i)) << i;
    records.push_back({.bytes = bytes, .number = i});
  }
  auto until = std::make_shared<LateEvent>(std::move(records), looks, is_lost);
  for (std::size_t i = first; i < first + kBorrowedAtOnce; ++i)
    staging.release_after(until, tickets[i]);
  staging.go_on();
  return until;
}

TEST_F(RecordStagingTest, ACellIsReadIntoAgainOnlyWhenTheDeviceHasCopiedIt) {
  for (const std::uint64_t memory_bytes : {1, 16 * 12288, 1 << 20}) {
    for (const std::uint64_t looks : {1, 7, 1'000'000}) {
      const auto staging = RecordStaging::open(env_, {.record_bytes_max = kRecord,
                                                      .memory_bytes = memory_bytes,
                                                      .depth = 4,
                                                      .held_count_max = kBorrowedAtOnce});
      ASSERT_TRUE(staging.ok()) << staging.status().message();
      const auto tickets = add_all(**staging);
      std::vector<std::shared_ptr<LateEvent>> events;
      for (std::size_t first = 0; first < kRecords; first += kBorrowedAtOnce) {
        events.push_back(borrow_batch(**staging, tickets, first, looks));
      }
      for (const auto& event : events) EXPECT_TRUE(event->was_right());
      EXPECT_EQ((*staging)->failed_count(), 0U);
    }
  }
}

TEST_F(RecordStagingTest, EndsOnlyWhenTheDeviceHasCopiedWhatItBorrowed) {
  for (const bool clears : {false, true}) {
    std::shared_ptr<LateEvent> until;
    {
      const auto staging = RecordStaging::open(
          env_, {.record_bytes_max = kRecord, .depth = 3, .held_count_max = kBorrowedAtOnce});
      ASSERT_TRUE(staging.ok());
      until = borrow_batch(**staging, add_all(**staging), 0, UINT64_MAX);
      if (clears) {
        (*staging)->clear();
        const std::uint64_t fresh = (*staging)->add(file_, 7 * kRecord, kRecord);
        EXPECT_TRUE(is_record((*staging)->wait_for(fresh), 7));
      }
    }
    EXPECT_TRUE(until->has_happened());
    EXPECT_TRUE(until->was_right());
  }
}

TEST_F(RecordStagingTest, UploadThatCannotBeWaitedForLeavesTheRestToTheOrdinaryPath) {
  const auto staging = RecordStaging::open(
      env_, {.record_bytes_max = kRecord, .depth = 3, .held_count_max = kBorrowedAtOnce});
  ASSERT_TRUE(staging.ok());
  const auto tickets = add_all(**staging);
  (void)borrow_batch(**staging, tickets, 0, UINT64_MAX, true);
  std::size_t left_count = 0;
  for (std::size_t i = kBorrowedAtOnce; i < kRecords; ++i) {
    if ((*staging)->wait_for(tickets[i]).empty()) ++left_count;
    (*staging)->release(tickets[i]);
  }
  EXPECT_GE(left_count, kRecords - 2 * kBorrowedAtOnce);
  EXPECT_NE((*staging)->why_stopped(), "");
}

TEST_F(RecordStagingTest, OnlyADevicesMemoryIsBorrowableAndOnlyInBounds) {
  const testing::DeviceUnderTest gpu(testing::DeviceChoice::kCuda);
  const auto device = gpu.device();
  constexpr std::uint64_t kTooMany = kBorrowedBytesMax / kRecord;
  for (const device::Device* lender : {device.get(), static_cast<device::Device*>(nullptr)}) {
    for (const std::uint64_t borrowed : {std::uint64_t{50}, kTooMany}) {
      const auto staging = RecordStaging::open(env_, {.record_bytes_max = kRecord,
                                                      .depth = 3,
                                                      .lender = lender,
                                                      .borrowed_count_max = borrowed});
      ASSERT_TRUE(staging.ok());
      const bool is_expected = lender != nullptr && borrowed != kTooMany;
      EXPECT_EQ((*staging)->is_borrowable(), is_expected);
      EXPECT_EQ((*staging)->cell_count(), kStagingCellsMin + (is_expected ? borrowed : 0));
    }
  }
}

TEST_F(RecordStagingTest, RecordTooLargeForACellIsNotRead) {
  const auto staging = open();
  const std::uint64_t large = staging->add(file_, 0, kRecords * kRecord);
  const std::uint64_t behind = staging->add(file_, kRecord, kRecord);
  EXPECT_TRUE(staging->wait_for(large).empty());
  EXPECT_TRUE(is_record(staging->wait_for(behind), 1));
}

TEST_F(RecordStagingTest, ClearForgetsTicketsAndGoesOn) {
  const auto staging = open();
  for (int round = 0; round < 20; ++round) {
    const auto old = add_all(*staging);
    EXPECT_TRUE(is_record(staging->wait_for(old[0]), 0));
    if (round % 2 == 0) staging->release(old[0]);
    staging->clear();
    EXPECT_TRUE(staging->wait_for(old[1]).empty());
    EXPECT_TRUE(staging->wait_for(old[kRecords - 1]).empty());
    staging->release(old[1]);  // does nothing
    const std::uint64_t fresh = staging->add(file_, 7 * kRecord, kRecord);
    EXPECT_TRUE(is_record(staging->wait_for(fresh), 7));
    staging->release(fresh);
  }
}

TEST_F(RecordStagingTest, EndsWithReadsOnTheirWay) {
  const auto staging = open();
  (void)add_all(*staging);
}

TEST_F(RecordStagingTest, EnvironmentWithoutDirectReadsIsUnsupported) {
  testing::MemoryEnv memory;
  const auto refused = RecordStaging::open(
      memory, {.record_bytes_max = kRecord, .memory_bytes = 64 << 10, .depth = 4});
  EXPECT_EQ(refused.status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace xtts::loader
