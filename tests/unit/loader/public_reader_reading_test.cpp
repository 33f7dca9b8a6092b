// Tests of ways to read records, as users see them: forced, chosen, and refused by the system.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <string>
#include <vector>

#include "made_cache.hpp"
#include "support/forbidden_call.hpp"

namespace xtts {
namespace {

testing::TestCacheOptions large_records() {
  return {.clip_count = 40, .frames_max = 100, .channel_count = 80, .clips_per_block = 8};
}

void expect_epoch(Reader& reader, const MadeCache& cache) {
  std::vector<std::uint64_t> seen;
  for (;;) {
    const auto batch = reader.next();
    ASSERT_TRUE(batch.ok()) << batch.status().message();
    if (!*batch) break;
    expect_all_rows(**batch, cache);
    seen.insert(seen.end(), (*batch)->positions().begin(), (*batch)->positions().end());
  }
  std::ranges::sort(seen);
  EXPECT_EQ(seen, all_positions(cache));
}

TEST(PublicReaderReading, DirectBringsEveryClipEpochAfterEpoch) {
  const MadeCache cache(large_records());
  Reader reader = open_reader(cache.open(), {.batch_size = 8, .reading = Reading::kDirect});
  if (!reader.stats().reading.starts_with("direct:")) {
    GTEST_SKIP() << "SKIPPED: " << reader.stats().reading;
  }
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    reader.set_epoch(epoch);
    expect_epoch(reader, cache);
  }
  EXPECT_EQ(reader.stats().check_failures, 0U);
  EXPECT_EQ(reader.stats().reading, "direct: as asked for");
  EXPECT_EQ(reader.stats().cache_hits, 0U);
}

// A batch has 41 records of 960 kB, and staging memory holds 34 at most.
TEST(PublicReaderReading, BatchLargerThanTheStagingMemoryComes) {
  const MadeCache cache({.clip_count = 41, .frames_max = 3000, .channel_count = 80});
  for (const std::uint32_t threads : {1U, 3U}) {
    Reader reader = open_reader(
        cache.open(), {.batch_size = 41, .thread_count = threads, .reading = Reading::kDirect});
    expect_epoch(reader, cache);
    reader.set_epoch(1);
    expect_epoch(reader, cache);
  }
}

// A row has six records of up to 6.7 MB, and four of them fill the staging memory.
TEST(PublicReaderReading, RowOfMoreRecordsThanTheStagingMemoryHoldsComes) {
  const MadeCache cache({.layout = formats::Layout::kPacked,
                         .clip_count = 9,
                         .frames_max = 21000,
                         .channel_count = 80,
                         .mel_copies = 5,
                         .clips_per_block = 1});
  for (const std::uint32_t threads : {1U, 3U}) {
    Reader reader = open_reader(
        cache.open(),
        {.batch_size = 1, .slot_count = 3, .thread_count = threads, .reading = Reading::kDirect});
    expect_epoch(reader, cache);
  }
}

TEST(PublicReaderReading, DirectAndMappedReadersOfOneCacheDoNotDisturbEachOther) {
  const MadeCache cache(large_records());
  const Cache opened = cache.open();
  Reader direct = open_reader(opened, {.batch_size = 8, .reading = Reading::kDirect});
  Reader mapped = open_reader(opened, {.batch_size = 8, .reading = Reading::kMapped});
  for (int i = 0; i < 5; ++i) {
    const auto a = direct.next();
    const auto b = mapped.next();
    ASSERT_TRUE(a.ok() && *a && b.ok() && *b);
    EXPECT_TRUE(std::ranges::equal((*a)->find("mel")->bytes, (*b)->find("mel")->bytes));
  }
}

TEST(PublicReaderReading, ForbiddenIoUringFallsBackAndSaysSo) {
  const MadeCache cache(large_records());
  const bool could = testing::run_without_system_call(__NR_io_uring_setup, [&] {
    Reader reader = open_reader(cache.open(), {.batch_size = 8, .reading = Reading::kDirect});
    expect_epoch(reader, cache);
    const ReaderStats stats = reader.stats();
    EXPECT_TRUE(stats.reading.starts_with("mapped:")) << stats.reading;
    EXPECT_NE(stats.reading.find("io_uring"), std::string::npos) << stats.reading;
    EXPECT_NE(stats.notice.find("io_uring"), std::string::npos) << stats.notice;
  });
  if (!could) GTEST_SKIP() << "SKIPPED: this system takes no seccomp filter from us";
}

TEST(PublicReaderReading, SmallCacheIsMappedByItselfAndTheStorageIsTold) {
  const MadeCache cache(large_records());
  Reader reader = open_reader(cache.open(), {.batch_size = 8});
  expect_epoch(reader, cache);
  reader.set_epoch(1);
  expect_epoch(reader, cache);
  EXPECT_GT(reader.stats().cache_hits, 40U);  // the second epoch, except what is swapped out
  EXPECT_LE(reader.stats().cache_hits, 80U);
  EXPECT_TRUE(reader.stats().reading.starts_with("mapped:")) << reader.stats().reading;
  EXPECT_NE(reader.stats().storage.find("iB"), std::string::npos) << reader.stats().storage;
}

TEST(PublicReaderReading, SmallRecordsGoThroughThePageCacheInAnyCase) {
  const MadeCache cache;
  Reader reader = open_reader(cache.open(), {.batch_size = 8, .reading = Reading::kDirect});
  EXPECT_EQ(positions_of_epoch(reader).size(), 56U);
  EXPECT_TRUE(reader.stats().reading.starts_with("mapped:")) << reader.stats().reading;
}

TEST(PublicReaderReading, CanonicalOrderIsCopiedWhereDirectIsAskedFor) {
  const MadeCache cache(large_records());
  Reader reader = open_reader(
      cache.open(), {.batch_size = 8, .shuffle = Shuffle::kNone, .reading = Reading::kDirect});
  const auto batch = reader.next();
  ASSERT_TRUE(batch.ok() && *batch);
  if (reader.stats().reading.starts_with("direct:")) {
    EXPECT_FALSE((*batch)->find("mel")->is_view);
  }
  expect_all_rows(**batch, cache);
}

}  // namespace
}  // namespace xtts
