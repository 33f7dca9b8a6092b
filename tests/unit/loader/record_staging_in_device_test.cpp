// Tests of staging memory that is a GPU's own, over the adversarial driver and the libcufile.so.0
// for tests: records come whole and with their hashes, in any order of the GPU's work.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "loader/record_staging.hpp"
#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cufile/fake_cufile.hpp"
#include "support/device_under_test.hpp"
#include "support/made_direct_queue.hpp"
#include "support/memory_env.hpp"
#include "support/temp_folder.hpp"

namespace xtts::loader {
namespace {

constexpr std::size_t kStaged = 5056;  // begins at multiples of 64, not of pages
constexpr std::size_t kStagedCount = 120;

class StagingInDevice : public ::testing::Test {
 protected:
  StagingInDevice() {
    testing::fake_cufile::reset();
    for (std::size_t i = 0; i < kStagedCount; ++i) text_ += record(i);
    file_ = testing::made_direct_file(folder_.write("records", text_));
  }
  ~StagingInDevice() override {
    staging_.reset();
    file_.reset();
    EXPECT_EQ(testing::fake_cufile::leftovers(), std::vector<std::string>());
  }

  [[nodiscard]] static std::string record(std::size_t i) {
    std::string text(kStaged, static_cast<char>('a' + i % 26));
    text.replace(0, 4, std::to_string(1000 + i));
    return text;
  }
  void open(std::uint64_t batch = 10, bool hashes = true) {
    auto staging = RecordStaging::open(no_disk_, {.record_bytes_max = kStaged,
                                                  .memory_bytes = 1,
                                                  .depth = 6,
                                                  .lender = device_.device().get(),
                                                  .borrowed_count_max = batch,
                                                  .is_in_device = true,
                                                  .hashes = hashes});
    ASSERT_TRUE(staging.ok()) << staging.status().message();
    staging_ = std::move(*staging);
    EXPECT_TRUE(staging_->is_in_device());
  }
  [[nodiscard]] std::vector<std::uint64_t> add_all() const {
    std::vector<std::uint64_t> tickets;
    for (std::size_t i = 0; i < kStagedCount; ++i) {
      tickets.push_back(staging_->add(file_, i * kStaged, kStaged, 3 * i));
    }
    return tickets;
  }
  // Nothing: the record is left to the ordinary path. Else whether it is the right one.
  [[nodiscard]] std::optional<bool> is_right(std::uint64_t ticket, std::size_t i) const {
    const auto bytes = staging_->wait_for(ticket);
    if (bytes.empty()) return std::nullopt;
    const std::string wanted = record(i);
    const auto found = testing::fake_cuda::copy_to_host(bytes.data(), bytes.size());
    return std::ranges::equal(found, std::as_bytes(std::span(wanted))) &&
           staging_->hash_of(ticket) == check64(std::as_bytes(std::span(wanted)), 3 * i);
  }

  testing::DeviceUnderTest device_{testing::DeviceChoice::kCuda};
  testing::TempFolder folder_;
  testing::MemoryEnv no_disk_;  // its queues are not asked for
  std::string text_;
  std::shared_ptr<const DirectFile> file_;
  std::unique_ptr<RecordStaging> staging_;
};

TEST_F(StagingInDevice, BringsEveryRecordAndItsHashThroughFewCells) {
  open();
  EXPECT_EQ(staging_->cell_count(), std::uint64_t{kStagingCellsMin} + 10);
  const auto tickets = add_all();
  for (std::size_t i = 0; i < kStagedCount; ++i) {
    EXPECT_EQ(is_right(tickets[i], i), true) << i;
    staging_->release(tickets[i]);
  }
  EXPECT_EQ(staging_->failed_count(), 0U);
}

TEST_F(StagingInDevice, WithoutChecksNothingIsHashed) {
  open(10, false);
  const std::uint64_t before = testing::fake_cuda::call_count("cuLaunchKernel");
  for (const std::uint64_t ticket : add_all()) {
    EXPECT_EQ(staging_->wait_for(ticket).size(), kStaged);
    staging_->release(ticket);
  }
  EXPECT_EQ(testing::fake_cuda::call_count("cuLaunchKernel"), before);
}

TEST_F(StagingInDevice, SeveralThreadsTakeTheirPartsInAnyOrder) {
  open(40);
  const auto tickets = add_all();
  std::atomic<std::size_t> next_part = 0;
  std::atomic<std::size_t> right_count = 0;
  constexpr std::size_t kPart = 4;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (;;) {
        const std::size_t first = kPart * next_part++;
        if (first >= kStagedCount) return;
        for (std::size_t i = first; i < first + kPart; ++i) {
          // Some are released without having been waited for.
          if (i % 7 == 0 || is_right(tickets[i], i) == true) ++right_count;
          staging_->release(tickets[i]);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right_count, kStagedCount);
}

// The driver's double notes a read into memory that the GPU still hashes.
TEST_F(StagingInDevice, ACellIsReadIntoAgainOnlyWhenItsHashIsDone) {
  open();
  const std::uint64_t count = staging_->cell_count();
  for (int round = 0; round < 10; ++round) {
    std::vector<std::uint64_t> tickets;
    for (std::size_t i = 0; i + 1 < count; ++i) {
      tickets.push_back(staging_->add(file_, i * kStaged, kStaged, 3 * i));
    }
    // This one is not there. The others have been read before, and nobody has waited for a hash.
    tickets.push_back(staging_->add(file_, kStagedCount * kStaged, kStaged));
    EXPECT_TRUE(staging_->wait_for(tickets.back()).empty());
    for (const std::uint64_t ticket : tickets) staging_->release(ticket);
  }
}

TEST_F(StagingInDevice, ClearForgetsTicketsAndGoesOn) {
  open();
  for (std::size_t round = 0; round < 20; ++round) {
    const auto old = add_all();
    if (round % 2 == 0) {
      EXPECT_EQ(is_right(old[0], 0), true);
    }
    staging_->clear();
    EXPECT_TRUE(staging_->wait_for(old[1]).empty());
    const std::uint64_t fresh = staging_->add(file_, 7 * kStaged, kStaged, 21);
    EXPECT_EQ(is_right(fresh, 7), true);
    staging_->release(fresh);
  }
}

TEST_F(StagingInDevice, EndsWithReadsAndHashesOnTheirWay) {
  for (int round = 0; round < 20; ++round) {
    open();
    const auto tickets = add_all();
    if (round % 2 == 0) (void)staging_->wait_for(tickets[0]);
    staging_.reset();
  }
}

TEST_F(StagingInDevice, WhatCannotBeReadOrHashedIsLeftToTheOrdinaryPath) {
  // One event serves many calls.
  const std::vector<std::pair<std::string, std::uint64_t>> failures = {{"cuLaunchKernel", 3},
                                                                       {"cuMemcpyDtoHAsync", 3},
                                                                       {"cuEventRecord", 3},
                                                                       {"cuEventCreate", 1},
                                                                       {"a read", 3}};
  for (const auto& [name, nth] : failures) {
    open();
    testing::fake_cufile::reset();
    if (name == "a read") {
      testing::fake_cufile::reset(
          {.on_read = [](std::uint64_t number, ssize_t got) { return number == 3 ? -5 : got; }});
    } else {
      fake_cuda_fail(name.c_str(), testing::fake_cuda::call_count(name) + nth, cuda::kOutOfMemory);
    }
    const auto tickets = add_all();
    std::size_t left_count = 0;
    for (std::size_t i = 0; i < kStagedCount; ++i) {
      const auto right = is_right(tickets[i], i);
      if (!right) ++left_count;
      EXPECT_NE(right, false) << name;
      staging_->release(tickets[i]);
    }
    EXPECT_GT(left_count, 0U) << name;
    EXPECT_EQ(staging_->failed_count(), left_count) << name;
    staging_.reset();
  }
}

TEST_F(StagingInDevice, ABatchThatIsTooLargeIsRefused) {
  const auto refused =
      RecordStaging::open(no_disk_, {.record_bytes_max = kStaged,
                                     .depth = 6,
                                     .lender = device_.device().get(),
                                     .borrowed_count_max = kBorrowedBytesMax / kStaged,
                                     .is_in_device = true});
  EXPECT_EQ(refused.status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace xtts::loader
