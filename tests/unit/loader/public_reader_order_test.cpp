// Tests of the seed's order: with any number of threads and ranks, with weights and without, and
// from any state on.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "made_cache.hpp"
#include "xtts/order.hpp"

namespace xtts {
namespace {

TEST(PublicReaderOrder, OrderIsTheSameForAnyThreadsAndAnotherForEachEpochAndSeed) {
  const MadeCache cache;
  const Cache opened = cache.open();
  const auto order = [&](std::uint32_t threads, std::uint64_t seed, std::uint64_t epoch) {
    Reader reader = open_reader(opened, {.batch_size = 5, .seed = seed, .thread_count = threads});
    reader.set_epoch(epoch);
    return positions_of_epoch(reader);
  };
  const auto first = order(1, 7, 3);
  EXPECT_EQ(first.size(), 60U);  // the last clip does not fill a batch
  EXPECT_EQ(order(2, 7, 3), first);
  EXPECT_EQ(order(9, 7, 3), first);
  EXPECT_NE(order(1, 8, 3), first);
  EXPECT_NE(order(1, 7, 4), first);
}

// A reader gives as many batches as order.hpp counts for as many samples.
TEST(PublicReaderOrder, BatchesAreCountedWithoutACache) {
  const MadeCache cache;
  const Cache opened = cache.open();
  for (const LastBatch last : {LastBatch::kDrop, LastBatch::kPad}) {
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      Reader reader =
          open_reader(opened, {.batch_size = 5, .rank = rank, .world_size = 3, .last_batch = last});
      EpochBatches epoch = {.sample_count = opened.size(),
                            .batch_size = 5,
                            .rank = rank,
                            .world_size = 3,
                            .last = last};
      EXPECT_EQ(count_batches(epoch).value(), reader.batches_per_epoch());
      ASSERT_TRUE(reader.next().ok());
      epoch.first_place = reader.state().samples_consumed;
      std::uint64_t left = 0;
      while (*reader.next()) ++left;
      EXPECT_EQ(count_batches(epoch).value(), left);
    }
  }
}

TEST(PublicReaderOrder, BatchesThatCannotBeAreNotCounted) {
  const auto code = [](const EpochBatches& epoch) { return count_batches(epoch).status().code(); };
  EXPECT_EQ(code({.sample_count = 9}), StatusCode::kOk);
  EXPECT_EQ(code({.sample_count = 9, .batch_size = 0}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.sample_count = 9, .rank = 2, .world_size = 2}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.sample_count = 9, .world_size = 0}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.sample_count = 9, .first_place = 9}), StatusCode::kOk);
  EXPECT_EQ(code({.sample_count = 9, .first_place = 10}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.sample_count = (std::uint64_t{1} << 48U) + 1}), StatusCode::kInvalidArgument);
}

TEST(PublicReaderOrder, EpochsThatFollowOneAnotherAreThoseThatAreAskedForOneByOne) {
  const MadeCache cache;
  const Cache opened = cache.open();
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kGlobal, Shuffle::kWindow}) {
    for (const bool has_buckets : {false, true}) {
      ReaderOptions options{.batch_size = 5,
                            .shuffle = shuffle,
                            .seed = 7,
                            .stretch_samples = 6,
                            .stretches_per_window = 3};
      if (has_buckets) options.buckets = {{.batch_size = 3, .frames_max = 9}, {.batch_size = 4}};
      Reader following = open_reader(opened, options);
      // Goes in turn, repeats an epoch, leaves one out, and leaves one in its middle.
      for (const std::uint64_t epoch : {0, 1, 2, 2, 4, 5, 6, 5}) {
        following.set_epoch(epoch);
        if (epoch == 4) {
          ASSERT_TRUE(following.next().ok());
          continue;
        }
        EXPECT_EQ(following.state().samples_consumed, 0U);
        Reader alone = open_reader(opened, options);
        alone.set_epoch(epoch);
        EXPECT_EQ(positions_of_epoch(following), positions_of_epoch(alone)) << epoch;
        EXPECT_EQ(following.epoch(), epoch);
        EXPECT_FALSE(following.next()->has_value());
        EXPECT_TRUE(alone.load_state(following.state()).ok());
        EXPECT_FALSE(alone.next()->has_value());
      }
    }
  }
}

TEST(PublicReaderOrder, RanksShareTheSequenceWithoutOverlap) {
  const MadeCache cache;
  const Cache opened = cache.open();
  Reader whole = open_reader(opened, {.batch_size = 4, .last_batch = LastBatch::kPad});
  const auto sequence = positions_of_epoch(whole);
  for (const auto last : {LastBatch::kDrop, LastBatch::kPad}) {
    std::vector<std::uint64_t> together;
    std::set<std::uint64_t> batch_counts;
    std::vector<std::vector<std::uint64_t>> by_rank;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      Reader reader =
          open_reader(opened, {.batch_size = 4, .rank = rank, .world_size = 3, .last_batch = last});
      batch_counts.insert(reader.batches_per_epoch());
      by_rank.push_back(positions_of_epoch(reader));
      together.insert(together.end(), by_rank.back().begin(), by_rank.back().end());
    }
    EXPECT_EQ(batch_counts.size(), 1U);
    EXPECT_EQ(std::set<std::uint64_t>(together.begin(), together.end()).size(), together.size());
    EXPECT_EQ(together.size(), last == LastBatch::kPad ? 61U : 60U);
    // Rank 1 begins behind rank 0's first batch.
    EXPECT_TRUE(std::equal(by_rank[1].begin(), by_rank[1].begin() + 4, sequence.begin() + 4));
  }
}

TEST(PublicReaderOrder, StateGoesOnExactlyAlsoOnAnotherWorldSize) {
  const MadeCache cache;
  const Cache opened = cache.open();
  const ReaderOptions options{.batch_size = 4, .seed = 5, .last_batch = LastBatch::kPad};
  Reader whole = open_reader(opened, options);
  whole.set_epoch(2);
  const auto sequence = positions_of_epoch(whole);

  Reader begun = open_reader(opened, options);
  begun.set_epoch(2);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(begun.next().ok());
  const ReaderState state = begun.state();
  EXPECT_EQ(state.samples_consumed, 24U);
  const std::vector<std::uint64_t> rest(sequence.begin() + 24, sequence.end());

  Reader alone = open_reader(opened, options);
  ASSERT_TRUE(alone.load_state(state).ok());
  EXPECT_EQ(positions_of_epoch(alone), rest);

  std::vector<std::uint64_t> together;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ReaderOptions of_rank = options;
    of_rank.batch_size = 3;
    of_rank.rank = rank;
    of_rank.world_size = 2;
    Reader reader = open_reader(opened, of_rank);
    ASSERT_TRUE(reader.load_state(state).ok());
    const auto some = positions_of_epoch(reader);
    together.insert(together.end(), some.begin(), some.end());
    EXPECT_TRUE(std::equal(some.begin(), some.begin() + 3, rest.begin() + rank * 3));
  }
  std::ranges::sort(together);
  auto expected = rest;
  std::ranges::sort(expected);
  EXPECT_EQ(together, expected);
}

TEST(PublicReaderOrder, WeightedEpochsAreOfAsManyDrawsAndGoOnFromAState) {
  const MadeCache cache({.clip_count = 61, .speaker_count = 3});
  const Cache opened = cache.open();
  const ReaderOptions options{
      .batch_size = 4,
      .seed = 5,
      .weights = Weights{.by = WeightBy::kSpeaker, .temperature = 0.0, .draw_count = 200}};
  Reader whole = open_reader(opened, options);
  EXPECT_EQ(whole.batches_per_epoch(), 50U);
  EXPECT_EQ(whole.samples_per_epoch(), 200U);
  EXPECT_EQ(whole.sample_count(), 61U);
  whole.set_epoch(1);
  const auto sequence = positions_of_epoch(whole);
  ASSERT_EQ(sequence.size(), 200U);
  Reader begun = open_reader(opened, options);
  begun.set_epoch(1);
  for (int i = 0; i < 7; ++i) {
    const auto batch = begun.next();
    ASSERT_TRUE(batch.ok() && *batch);
    expect_all_rows(**batch, cache);
  }
  Reader after = open_reader(opened, options);
  ASSERT_TRUE(after.load_state(begun.state()).ok());
  EXPECT_EQ(positions_of_epoch(after),
            std::vector<std::uint64_t>(sequence.begin() + 28, sequence.end()));
  Reader unweighted = open_reader(opened, {.batch_size = 4});
  EXPECT_EQ(unweighted.load_state(begun.state()).code(), StatusCode::kMismatch);
  ReaderOptions in_order = options;
  in_order.shuffle = Shuffle::kNone;
  EXPECT_EQ(Reader::open(opened, in_order).status().code(), StatusCode::kInvalidArgument);
}

TEST(PublicReaderOrder, StateOfAnotherCacheOrSelectionIsATypedError) {
  const MadeCache cache;
  const MadeCache other({.clip_count = 60});
  const Cache opened = cache.open();
  const ReaderState state = open_reader(opened, {.batch_size = 4}).state();
  Reader elsewhere = open_reader(other.open(), {.batch_size = 4});
  EXPECT_EQ(elsewhere.load_state(state).code(), StatusCode::kMismatch);
  Reader fewer = open_reader(opened, {.batch_size = 4, .exclude = {cache.made().clips[3].id}});
  EXPECT_EQ(fewer.load_state(state).code(), StatusCode::kMismatch);
  Reader otherwise = open_reader(opened, {.batch_size = 4, .shuffle = Shuffle::kNone});
  EXPECT_EQ(otherwise.load_state(state).code(), StatusCode::kMismatch);
  ReaderState newer = state;
  newer.order_version = 2;
  EXPECT_EQ(otherwise.load_state(newer).code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace xtts
