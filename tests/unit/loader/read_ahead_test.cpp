// Tests of ReadAhead after a batch that could not be planned.
#include "loader/read_ahead.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>

#include "support/made_direct_queue.hpp"
#include "support/temp_folder.hpp"
#include "support/test_cache.hpp"

namespace xtts::loader {
namespace {

constexpr std::uint32_t kBatch = 2;
constexpr std::uint64_t kSteps = 20;

class ReadAheadTest : public ::testing::Test {
 protected:
  // The records have 32,000 bytes.
  ReadAheadTest()
      : made_(testing::make_test_cache({.clip_count = kBatch * kSteps,
                                        .frames_max = 100,
                                        .channel_count = 80,
                                        .clips_per_block = 8})) {
    for (const auto& [name, bytes] : made_.files) folder_.write(name, bytes);
    auto caches = reader::CacheSet::open(env_, std::span(&folder_.path(), 1));
    EXPECT_TRUE(caches.ok()) << caches.status().message();
    caches_ = std::move(*caches);
    auto layout = BatchLayout::plan(*caches_, {{.name = "mel"}}, kBatch);
    EXPECT_TRUE(layout.ok()) << layout.status().message();
    layout_ = std::move(*layout);
    auto staging = RecordStaging::open(
        env_, {.record_bytes_max = 32000, .memory_bytes = 200 << 10U, .depth = 3});
    EXPECT_TRUE(staging.ok()) << staging.status().message();
    staging_ = std::move(*staging);
  }

  [[nodiscard]] std::optional<BatchClips> choose(std::uint64_t step) {
    if (step >= kSteps) return std::nullopt;
    step_end_ = std::max(step_end_, step + 1);
    if (fails_at_ == step) {
      fails_at_.reset();
      throw std::bad_alloc();
    }
    BatchClips clips;
    clips.layout = &layout_;
    for (std::uint32_t row = 0; row < kBatch; ++row) {
      clips.positions.push_back(step * kBatch + row);
      clips.epoch_places.push_back(step * kBatch + row);
    }
    return clips;
  }

  testing::MadeDirectEnv env_;
  testing::TempFolder folder_;
  testing::TestCache made_;
  std::shared_ptr<reader::CacheSet> caches_;
  BatchLayout layout_;
  std::unique_ptr<RecordStaging> staging_;
  std::optional<std::uint64_t> fails_at_;
  std::uint64_t step_end_ = 0;  // behind the last step that was asked for
};

// After a failed batch, the next call must not get that batch, and must not wait for the memory of
// its records.
TEST_F(ReadAheadTest, AfterABatchThatCouldNotBePlannedTheNextOnesAreTheirOwn) {
  ReadAhead ahead(*caches_, {.staging = staging_.get()},
                  [this](std::uint64_t step) { return choose(step); });
  std::uint64_t failed_step = 0;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    if (step == 3) fails_at_ = step_end_;
    BatchClips clips;
    BatchRecords records;
    try {
      auto taken = ahead.take(records, step, false);
      ASSERT_TRUE(taken.ok());
      clips = std::move(*taken);
    } catch (const std::bad_alloc&) {
      failed_step = step;
      continue;
    }
    ahead.find_records(clips, records);
    ASSERT_EQ(clips.positions.size(), kBatch);
    for (std::uint32_t row = 0; row < kBatch; ++row) {
      EXPECT_EQ(clips.positions[row], step * kBatch + row);
      ASSERT_EQ(records.tickets.size(), 1U);
      EXPECT_FALSE(staging_->wait_for(records.tickets[0][row]).empty());
    }
    ahead.release(records, 0, kBatch);
  }
  EXPECT_EQ(failed_step, 3U);
}

}  // namespace
}  // namespace xtts::loader
