// Tests of what a forked child may do with its parent's reader and batches.
#include <gtest/gtest.h>

#include <memory>

#include "in_child.hpp"
#include "made_cache.hpp"

namespace xtts {
namespace {

TEST(PublicReaderFork, ReaderInAChildSaysSoAndCanBeDestroyed) {
  const MadeCache cache;
  const Cache opened = cache.open();
  auto reader = std::make_unique<Reader>(open_reader(opened, {.batch_size = 4}));
  auto batch = reader->next();
  ASSERT_TRUE(batch.ok() && *batch);
  EXPECT_EQ(in_child([&] {
              if (reader->next().status().code() != StatusCode::kUnsupported) return 1;
              reader->set_epoch(3);
              if (reader->load_state(reader->state()).code() != StatusCode::kUnsupported) return 2;
              if (reader->stats().batch_count != 0) return 3;
              batch = std::optional<Batch>();  // gives nothing back
              reader.reset();
              return 0;
            }),
            0);
  // The parent's reader goes on.
  std::size_t count = 1;
  for (auto next = reader->next(); next.ok() && *next; next = reader->next()) ++count;
  EXPECT_EQ(count, 15U);
}

// The kernel goes on writing to the parent's memory while children begin and end.
TEST(PublicReaderFork, ReadsOnTheirWayAreTheParents) {
  const MadeCache cache(
      {.clip_count = 120, .frames_max = 100, .channel_count = 80, .clips_per_block = 8});
  const Cache opened = cache.open();
  auto reader =
      std::make_unique<Reader>(open_reader(opened, {.batch_size = 4, .reading = Reading::kDirect}));
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    reader->set_epoch(epoch);
    for (std::size_t i = 0; i < 30; ++i) {
      auto batch = reader->next();
      ASSERT_TRUE(batch.ok() && *batch);
      expect_all_rows(**batch, cache);
      if (i % 10 != 3) continue;
      EXPECT_EQ(in_child([&] {
                  if (reader->next().status().code() != StatusCode::kUnsupported) return 1;
                  batch = std::optional<Batch>();
                  reader.reset();
                  return 0;
                }),
                0);
    }
  }
  EXPECT_EQ(reader->stats().check_failures, 0U);
}

TEST(PublicReaderFork, ChildOpensItsOwnAndReadsTheSame) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer lets a forked child start no threads";
#endif
  const MadeCache cache;
  const Cache opened = cache.open();
  Reader before = open_reader(opened, {.batch_size = 4, .seed = 3});
  ASSERT_TRUE(before.next().ok());
  const auto expected = positions_of_epoch(before);
  EXPECT_EQ(in_child([&] {
              auto own = Cache::open(cache.path());
              if (!own.ok()) return 1;
              auto reader = Reader::open(*own, {.batch_size = 4, .seed = 3});
              if (!reader.ok() || !reader->next().ok()) return 2;
              return positions_of_epoch(*reader) == expected ? 0 : 3;
            }),
            0);
}

}  // namespace
}  // namespace xtts
