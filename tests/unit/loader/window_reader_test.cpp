// Tests of what windowed epochs ask of a disk.
#include "loader/window_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <thread>

#include "cold_env.hpp"
#include "loader/loader.hpp"
#include "loader/stored_source.hpp"
#include "reader/file_ranges.hpp"
#include "support/temp_folder.hpp"
#include "support/test_cache.hpp"

namespace xtts::loader {
namespace {

class WindowReaderTest : public ::testing::Test {
 protected:
  // The mel has three shards of 32 records of 40,000 bytes. They are too large to be read whole.
  WindowReaderTest()
      : made_(testing::make_test_cache({.clip_count = 96,
                                        .frames_max = 250,
                                        .channel_count = 40,
                                        .clips_per_block = 4,
                                        .blocks_per_shard = 8})) {
    for (const auto& [name, bytes] : made_.files) folder_.write(name, bytes);
    cache_ = open_cache();
  }

  [[nodiscard]] std::shared_ptr<reader::CacheView> open_cache() {
    auto opened = reader::CacheView::open(env_, folder_.path());
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return *opened;
  }

  [[nodiscard]] std::unique_ptr<Loader> open(const ReaderOptions& options) {
    auto loader =
        Loader::open(std::make_shared<StoredSource>(*reader::CacheSet::join({cache_})), options);
    EXPECT_TRUE(loader.ok()) << loader.status().message();
    return std::move(*loader);
  }

  // Takes a whole epoch; returns the positions.
  static std::set<std::uint64_t> take_all(Loader& loader) {
    std::set<std::uint64_t> positions;
    for (;;) {
      const auto lease = loader.next();
      EXPECT_TRUE(lease.ok()) << lease.status().message();
      if (!lease.ok() || !*lease) return positions;
      positions.insert((**lease)->clips.positions.begin(), (**lease)->clips.positions.end());
    }
  }

  testing::ColdEnv env_;
  testing::TempFolder folder_;
  testing::TestCache made_;
  std::shared_ptr<reader::CacheView> cache_;
};

TEST_F(WindowReaderTest, RangesAreWhatTheRecordsAndHeadersTake) {
  const formats::ColumnSpec& column = cache_->manifest().columns[0].spec;
  const auto first_block = cache_->block(0, 0);
  ASSERT_TRUE(first_block.ok());
  const auto of_one = reader::find_file_ranges(*cache_, column, 1, 2);
  ASSERT_TRUE(of_one.ok());
  // The header lies next to the records, so there is one range.
  EXPECT_EQ(*of_one, (std::vector<reader::FileRange>{{0, first_block->place.header_offset,
                                                      first_block->place.payload_offset +
                                                          3 * column.record_bytes() -
                                                          first_block->place.header_offset}}));
  const auto of_all = reader::find_file_ranges(*cache_, column, 0, 96);
  ASSERT_TRUE(of_all.ok());
  EXPECT_EQ(of_all->size(), cache_->manifest().columns[0].shards.size());
  EXPECT_FALSE(reader::find_file_ranges(*cache_, column, 90, 10).ok());
}

TEST_F(WindowReaderTest, JoinsWhatTouchesAndKeepsWhatDoesNot) {
  const std::uint64_t far = std::uint64_t{1} << 20U;
  EXPECT_EQ(reader::join_ranges({{1, far, 10}, {0, 0, 100}, {0, 50, 10}, {0, 100, 5}, {1, 0, 1}}),
            (std::vector<reader::FileRange>{{0, 0, 105}, {1, 0, 1}, {1, far, 10}}));
  EXPECT_TRUE(reader::join_ranges({}).empty());
}

// Expects that no page was asked for twice.
void expect_each_byte_once(const std::vector<testing::DiskRead>& reads) {
  std::set<std::pair<std::string, std::uint64_t>> seen;
  for (const testing::DiskRead& read : reads) {
    for (std::uint64_t at = read.offset_bytes; at < read.end_bytes();
         at += testing::ColdDisk::kPageBytes) {
      EXPECT_TRUE(seen.emplace(read.path, at).second) << read.path << " at " << at;
    }
  }
}

std::uint64_t sum_of_bytes(const std::vector<testing::DiskRead>& reads) {
  std::uint64_t sum = 0;
  for (const testing::DiskRead& read : reads) sum += read.size_bytes;
  return sum;
}

const ReaderOptions kThreeWindows{.batch_size = 8,
                                  .shuffle = Shuffle::kWindow,
                                  .seed = 3,
                                  .stretch_samples = 8,
                                  .stretches_per_window = 4};

TEST_F(WindowReaderTest, EachWindowIsReadFromFrontToBackBeforeItsBatchesAreMade) {
  const auto loader = open(kThreeWindows);
  EXPECT_EQ(take_all(*loader).size(), 96U);
  // There are three windows of four stretches. Each stretch takes one run at most, and reading
  // never goes back within a window.
  const std::vector<testing::DiskRead> reads = env_.disk.reads("/mel/");
  EXPECT_LE(reads.size(), 12U);
  std::size_t turned_back = 0;
  for (std::size_t i = 1; i < reads.size(); ++i) {
    if (std::pair(reads[i].path, reads[i].offset_bytes) <
        std::pair(reads[i - 1].path, reads[i - 1].offset_bytes)) {
      ++turned_back;
    }
  }
  EXPECT_LE(turned_back, 2U);
  EXPECT_GE(sum_of_bytes(reads), 96 * cache_->manifest().columns[0].spec.record_bytes());
  expect_each_byte_once(env_.disk.reads());
}

TEST_F(WindowReaderTest, SmallShardsAreReadWhole) {
  const auto loader = open(kThreeWindows);
  EXPECT_EQ(take_all(*loader).size(), 96U);
  const std::vector<testing::DiskRead> reads = env_.disk.reads("/tokens/");
  ASSERT_EQ(reads.size(), 3U);
  for (const testing::DiskRead& read : reads) EXPECT_EQ(read.offset_bytes, 0U);
}

TEST_F(WindowReaderTest, TheIndexIsReadInOneRunAndOnce) {
  const auto caches = *reader::CacheSet::join({cache_});
  const auto selection = Selection::choose(*caches, {});
  ASSERT_TRUE(selection.ok()) << selection.status().message();
  const std::size_t reads_before = env_.disk.reads("/index-").size();
  WindowPages pages(*caches, *selection, {}, false);
  const EpochOrder order({.sample_count = selection->size(), .shuffle = Shuffle::kWindow});
  for (int i = 0; i < 2; ++i) {
    pages.bring_in(order, 0, [] { return false; });
    const std::vector<testing::DiskRead> reads = env_.disk.reads("/index-");
    EXPECT_LE(reads.size(), reads_before + 1);
    EXPECT_GE(sum_of_bytes(reads), cache_->manifest().index_bytes);
  }
  expect_each_byte_once(env_.disk.reads("/index-"));
}

// Two threads read as fast as they can. Without turns they would race through each window.
TEST_F(WindowReaderTest, TwoRanksReadEachByteOnceAndInNoMoreRunsThanOne) {
  std::vector<std::set<std::uint64_t>> taken(2);
  std::vector<std::thread> ranks;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ranks.emplace_back([this, rank, &taken] {
      ReaderOptions options = kThreeWindows;
      options.rank = rank;
      options.world_size = 2;
      const auto loader = Loader::open(
          std::make_shared<StoredSource>(*reader::CacheSet::join({open_cache()})), options);
      ASSERT_TRUE(loader.ok()) << loader.status().message();
      taken[rank] = take_all(**loader);
    });
  }
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(taken[0].size(), 48U);
  EXPECT_EQ(taken[1].size(), 48U);
  EXPECT_LE(env_.disk.reads("/mel/").size(), 12U);
  EXPECT_LE(env_.disk.reads("/tokens/").size(), 3U);
  expect_each_byte_once(env_.disk.reads("/shards/"));
}

// A rank may be stopped in the middle of a run. That costs others one wait, not one for each run.
TEST_F(WindowReaderTest, RankThatKeepsItsTurnIsWaitedForOnce) {
  const auto caches = *reader::CacheSet::join({cache_});
  const auto selection = Selection::choose(*caches, {});
  ASSERT_TRUE(selection.ok()) << selection.status().message();
  std::vector<const reader::SharedColumn*> columns;
  for (const reader::SharedColumn& column : caches->columns()) columns.push_back(&column);
  WindowPages pages(*caches, *selection, columns, false, std::chrono::milliseconds(20));
  const EpochOrder order({.sample_count = 96,
                          .shuffle = Shuffle::kWindow,
                          .stretch_samples = 8,
                          .stretches_per_window = 4});
  const auto go_on = [] { return false; };
  const auto other = Env::real().open_for_read(folder_.path() + "/" + made_.index_name);
  ASSERT_TRUE(other.ok());
  auto turn = (*other)->try_lock();
  if (!turn.ok()) GTEST_SKIP() << "SKIPPED: " << turn.status().message();
  pages.bring_in(order, 0, go_on);
  const std::uint64_t tries_before = env_.disk.turns_tried;
  pages.bring_in(order, 1, go_on);
  const std::uint64_t tries = env_.disk.turns_tried - tries_before;
  EXPECT_GE(tries, 1U);
  EXPECT_LE(tries, 4 + 3U) << "once a run: four stretches of mel, three shards of tokens";
  turn->reset();
  bool is_held = false;  // the reader holds a turn: it takes turns again
  pages.bring_in(order, 2, [&] {
    is_held = is_held || (*other)->try_lock().status().code() == StatusCode::kBusy;
    return false;
  });
  EXPECT_TRUE(is_held);
  EXPECT_GE(sum_of_bytes(env_.disk.reads("/mel/")),
            96 * cache_->manifest().columns[0].spec.record_bytes());
}

TEST_F(WindowReaderTest, NotMoreThanTheNextWindowIsReadAhead) {
  const auto loader = open({.batch_size = 4,
                            .shuffle = Shuffle::kWindow,
                            .columns = {{.name = "mel"}},
                            .stretch_samples = 4,
                            .stretches_per_window = 2});  // twelve windows of eight
  ASSERT_TRUE(loader->next().ok());
  // The ring may have begun one batch more than it has slots. Those are three windows, and one more
  // is read ahead.
  EXPECT_LE(env_.disk.reads("/mel/").size(), 4 * 2U);
  EXPECT_EQ(take_all(*loader).size(), 92U);
}

// Otherwise the disk would have nothing to do while the last window is consumed.
TEST_F(WindowReaderTest, TheNextEpochsFirstWindowIsReadBehindTheLastOne) {
  env_.disk.forget_everything_always();
  const auto loader = open(kThreeWindows);
  EXPECT_EQ(take_all(*loader).size(), 96U);
  const EpochOrder next({.sample_count = 96,
                         .shuffle = Shuffle::kWindow,
                         .seed = 3,
                         .epoch = 1,
                         .stretch_samples = 8,
                         .stretches_per_window = 4});
  std::uint64_t last_sample = 0;
  for (const SampleRange& stretch : next.stretches_of(0)) {
    last_sample = std::max(last_sample, stretch.first_sample + stretch.sample_count - 1);
  }
  const auto ranges =
      reader::find_file_ranges(*cache_, cache_->manifest().columns[0].spec, last_sample, 1);
  ASSERT_TRUE(ranges.ok());
  // Waits for one window more than the epoch has. Its last run is read last of all mel.
  const auto is_read = [&] {
    const std::vector<testing::DiskRead> reads = env_.disk.reads("/mel/");
    const testing::DiskRead& last = reads.back();
    return sum_of_bytes(reads) >= (96 + 32) * cache_->manifest().columns[0].spec.record_bytes() &&
           last.path.ends_with(made_.shard_name(0, ranges->back().shard)) &&
           last.end_bytes() >= ranges->back().offset_bytes + ranges->back().size_bytes;
  };
  for (int i = 0; i < 2000 && !is_read(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(is_read());
}

TEST_F(WindowReaderTest, TwoWindowsAreHeldInMemoryWhereThatIsAskedFor) {
  ReaderOptions options = kThreeWindows;
  options.lock_memory = true;
  const std::uint64_t window_bytes = 32 * cache_->manifest().columns[0].spec.record_bytes();
  {
    const auto loader = open(options);
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      loader->set_epoch(epoch);
      for (int batch = 0; batch < 12; ++batch) {
        ASSERT_TRUE(loader->next().ok());
        EXPECT_GE(env_.disk.held_bytes("/mel/"), window_bytes);
        EXPECT_LE(env_.disk.held_bytes("/mel/"), 2 * window_bytes + window_bytes / 8);
      }
    }
    EXPECT_EQ(loader->stats().notice, "");
  }
  EXPECT_EQ(env_.disk.held_bytes(""), 0U);
  const auto without = open(kThreeWindows);
  EXPECT_EQ(take_all(*without).size(), 96U);
  EXPECT_EQ(env_.disk.held_bytes(""), 0U);
}

TEST_F(WindowReaderTest, WhatMayNotBeHeldIsReadAllTheSameAndTold) {
  env_.disk.refuse_to_hold();
  ReaderOptions options = kThreeWindows;
  options.lock_memory = true;
  const auto loader = open(options);
  EXPECT_EQ(take_all(*loader).size(), 96U);
  EXPECT_NE(loader->stats().notice.find("mlock: not allowed"), std::string::npos);
}

TEST_F(WindowReaderTest, EpochsStatesAndEarlyEndsLeaveNobodyWaiting) {
  const ReaderOptions options{.batch_size = 4,
                              .shuffle = Shuffle::kWindow,
                              .thread_count = 3,
                              .stretch_samples = 4,
                              .stretches_per_window = 2};
  const auto loader = open(options);
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    loader->set_epoch(epoch);
    ASSERT_TRUE(loader->next().ok());
  }
  const ReaderState state = loader->state();
  const auto other = open(options);
  ASSERT_TRUE(other->load_state(state).ok());
  EXPECT_EQ(take_all(*other), take_all(*loader));
  for (int i = 0; i < 20; ++i) (void)open(options);
}

}  // namespace
}  // namespace xtts::loader
