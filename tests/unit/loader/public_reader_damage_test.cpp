// Tests of batches that meet damage in a cache. The reader names it, skips it or ignores it, and
// never dies of a signal.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "made_cache.hpp"

namespace xtts {
namespace {

// Flips a byte in the first record of the column's first shard.
std::string damage_first_record(const MadeCache& cache) {
  const std::string path = cache.shard(0, 0);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const auto& numbers = cache.made().clips[0].mel;
  const std::string wanted(reinterpret_cast<const char*>(numbers.data()),
                           numbers.size() * sizeof(float));
  const std::size_t place = bytes.find(wanted);
  EXPECT_NE(place, std::string::npos);
  file.clear();
  file.seekp(static_cast<std::streamoff>(place + 5));
  file.put(static_cast<char>(bytes[place + 5] ^ 1));
  return cache.made().clips[0].id;
}

TEST(PublicReaderDamage, DamagedRecordIsToldByNameSkippedOrIgnored) {
  const MadeCache cache;
  const std::string id = damage_first_record(cache);
  const Cache opened = cache.open();
  const ReaderOptions options{.batch_size = 4, .shuffle = Shuffle::kNone};
  Reader raising = open_reader(opened, options);
  const auto failed = raising.next();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().code(), StatusCode::kCorrupt);
  EXPECT_NE(failed.status().message().find("mel of clip " + id), std::string::npos)
      << failed.status().message();
  const auto after = raising.next();
  ASSERT_TRUE(after.ok() && *after);
  EXPECT_EQ((*after)->positions()[0], 4U);

  ReaderOptions skipping = options;
  skipping.on_damage = OnDamage::kSkip;
  Reader skips = open_reader(opened, skipping);
  const auto fewer = skips.next();
  ASSERT_TRUE(fewer.ok() && *fewer) << fewer.status().message();
  EXPECT_EQ((*fewer)->valid_count(), 3U);
  EXPECT_EQ((*fewer)->positions()[0], 1U);
  expect_all_rows(**fewer, cache);
  EXPECT_EQ((*fewer)->find("mel")->lengths[3], 0);

  ReaderOptions ignoring = options;
  ignoring.on_damage = OnDamage::kIgnore;
  Reader ignores = open_reader(opened, ignoring);
  const auto as_is = ignores.next();
  ASSERT_TRUE(as_is.ok() && *as_is);
  EXPECT_EQ((*as_is)->valid_count(), 4U);

  for (Reader* const reader : {&raising, &skips, &ignores}) {
    EXPECT_GE(reader->stats().check_failures, 1U);
    ASSERT_FALSE(reader->stats().first_failures.empty());
    EXPECT_NE(reader->stats().first_failures[0].find(id), std::string::npos);
  }

  ReaderOptions unchecked = options;
  unchecked.verify_records = false;
  Reader trusting = open_reader(opened, unchecked);
  EXPECT_TRUE(trusting.next().ok());
  EXPECT_EQ(trusting.stats().check_failures, 0U);
}

TEST(PublicReaderDamage, DamagedHeaderIsHandledLikeADamagedRecordInEachOrder) {
  const MadeCache cache({.clip_count = 16, .clips_per_block = 4, .blocks_per_shard = 2});
  {
    // Finds the header of the second block by its magic, behind that of the first one.
    std::fstream file(cache.shard(0, 0), std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const std::size_t place = bytes.find("XTTSBLK1", bytes.find("XTTSBLK1") + 1);
    ASSERT_NE(place, std::string::npos);
    file.clear();
    file.seekp(static_cast<std::streamoff>(place + 300));
    file.put(static_cast<char>(bytes[place + 300] ^ 1));
  }
  const Cache opened = cache.open();
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kGlobal}) {
    for (const bool verifies : {true, false}) {
      Reader reader = open_reader(opened, {.batch_size = 8,
                                           .shuffle = shuffle,
                                           .verify_records = verifies,
                                           .on_damage = OnDamage::kSkip,
                                           .max_damage = 0.25});
      std::size_t valid_count = 0;
      for (int i = 0; i < 2; ++i) {
        const auto batch = reader.next();
        ASSERT_TRUE(batch.ok() && *batch) << batch.status().message();
        expect_all_rows(**batch, cache);
        valid_count += (*batch)->valid_count();
      }
      EXPECT_EQ(valid_count, 12U);
      EXPECT_EQ(reader.stats().check_failures, 4U);
    }
  }
}

// The offset of a clip's mel in the shard that holds it.
std::size_t offset_of_mel(const MadeCache& cache, const std::string& shard, std::size_t position) {
  const auto& numbers = cache.made().clips[position].mel;
  const std::string wanted(reinterpret_cast<const char*>(numbers.data()),
                           numbers.size() * sizeof(float));
  std::ifstream file(shard, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const std::size_t place = bytes.find(wanted);
  EXPECT_NE(place, std::string::npos);
  return place;
}

TEST(PublicReaderDamage, ShardThatWasCutBeforeOpeningGivesWhatLiesInsideOfIt) {
  const MadeCache cache({.clip_count = 64, .clips_per_block = 8, .blocks_per_shard = 4});
  // The first 19 of the first shard's 32 clips stay whole.
  const auto cut = static_cast<off_t>(offset_of_mel(cache, cache.shard(0, 0), 19));
  ASSERT_EQ(::truncate(cache.shard(0, 0).c_str(), cut), 0);
  const Cache opened = cache.open();
  EXPECT_TRUE(opened.read("mel", 18).ok());
  const Status by_position = opened.read("mel", 19).status();
  EXPECT_EQ(by_position.code(), StatusCode::kCorrupt);
  EXPECT_NE(by_position.message().find(cache.made().shard_name(0, 0)), std::string::npos);
  EXPECT_TRUE(opened.view("mel", 18).ok());
  EXPECT_EQ(opened.view("mel", 31).status().code(), StatusCode::kCorrupt);

  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kGlobal, Shuffle::kWindow}) {
    for (const Reading reading : {Reading::kMapped, Reading::kDirect}) {
      Reader reader = open_reader(opened, {.batch_size = 8,
                                           .shuffle = shuffle,
                                           .on_damage = OnDamage::kSkip,
                                           .reading = reading,
                                           .max_damage = 0.25});
      for (int epoch = 0; epoch < 2; ++epoch) {
        reader.set_epoch(static_cast<std::uint64_t>(epoch));
        std::vector<std::uint64_t> seen;
        for (;;) {
          const auto batch = reader.next();
          ASSERT_TRUE(batch.ok()) << batch.status().message();
          if (!*batch) break;
          expect_all_rows(**batch, cache);
          seen.insert(seen.end(), (*batch)->positions().begin(), (*batch)->positions().end());
        }
        std::ranges::sort(seen);
        std::vector<std::uint64_t> sound = all_positions(cache);
        sound.erase(sound.begin() + 19, sound.begin() + 32);
        EXPECT_EQ(seen, sound);
        const ReaderStats stats = reader.stats();
        EXPECT_EQ(stats.epoch_left_out_count, 13U);
        EXPECT_EQ(stats.epoch_sample_count, 64U);
        EXPECT_EQ(stats.left_out_count, 13U * (static_cast<unsigned>(epoch) + 1));
        ASSERT_FALSE(stats.first_failures.empty());
        EXPECT_NE(stats.first_failures[0].find(cache.made().shard_name(0, 0)), std::string::npos);
        EXPECT_NE(stats.first_failures[0].find("of clip"), std::string::npos);
      }
    }
  }
}

TEST(PublicReaderDamage, EpochThatLosesMoreThanItsShareFailsUntilItIsBegunAnew) {
  const MadeCache cache({.clip_count = 64, .clips_per_block = 8, .blocks_per_shard = 4});
  ASSERT_EQ(::unlink(cache.shard(0, 1).c_str()), 0);
  const Cache opened = cache.open();
  ReaderOptions options{
      .batch_size = 8, .shuffle = Shuffle::kNone, .on_damage = OnDamage::kSkip, .max_damage = 0.5};
  Reader enough = open_reader(opened, options);
  EXPECT_EQ(positions_of_epoch(enough).size(), 32U);
  EXPECT_EQ(enough.stats().epoch_left_out_count, 32U);  // all records of the shard

  options.max_damage = ReaderOptions().max_damage;
  Reader reader = open_reader(opened, options);
  for (int again = 0; again < 2; ++again) {
    reader.set_epoch(0);
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(reader.next().ok());
    for (int i = 0; i < 3; ++i) {
      const Status status = reader.next().status();
      EXPECT_EQ(status.code(), StatusCode::kCorrupt);
      for (const std::string& part :
           {std::string("8 of 64 clips"), std::string("5 %"), cache.made().shard_name(0, 1),
            "verify " + cache.path() + " --repair"}) {
        EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
      }
    }
  }

  options.on_damage = OnDamage::kRaise;
  Reader raising = open_reader(opened, options);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(raising.next().ok());
  const Status status = raising.next().status();
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_NE(status.message().find(cache.made().shard_name(0, 1) + " is missing"), std::string::npos)
      << status.message();

  for (const double share : {-0.1, 1.1, std::nan("")}) {
    options.max_damage = share;
    EXPECT_EQ(Reader::open(opened, options).status().code(), StatusCode::kInvalidArgument);
  }
}

TEST(PublicReaderDamage, CutShardThatIsMendedMeanwhileIsReadAgain) {
  const MadeCache cache({.clip_count = 64, .clips_per_block = 8, .blocks_per_shard = 4});
  ASSERT_EQ(::truncate(cache.shard(0, 0).c_str(), 9000), 0);
  const Cache opened = cache.open();
  Reader reader = open_reader(
      opened,
      {.batch_size = 8, .shuffle = Shuffle::kNone, .on_damage = OnDamage::kSkip, .max_damage = 1});
  EXPECT_LT(positions_of_epoch(reader).size(), 64U);
  std::ofstream(cache.shard(0, 0), std::ios::binary | std::ios::trunc)
      << cache.made().files.at(cache.made().shard_name(0, 0));
  reader.set_epoch(3);
  EXPECT_EQ(positions_of_epoch(reader).size(), 64U);
  EXPECT_EQ(reader.stats().epoch_left_out_count, 0U);
}

TEST(PublicReaderDamage, UnreadableRecordOfABatchInPlaceIsNeverShown) {
  const MadeCache cache({.clip_count = 64, .clips_per_block = 8, .blocks_per_shard = 4});
  const Cache opened = cache.open();
  ASSERT_EQ(::truncate(cache.shard(0, 0).c_str(), 0), 0);
  for (const OnDamage policy : {OnDamage::kRaise, OnDamage::kSkip, OnDamage::kIgnore}) {
    Reader reader = open_reader(
        opened, {.batch_size = 8, .shuffle = Shuffle::kNone, .on_damage = policy, .max_damage = 1});
    for (std::uint64_t i = 0; i < reader.batches_per_epoch(); ++i) {
      const auto batch = reader.next();
      if (!batch.ok()) continue;
      ASSERT_TRUE(*batch);
      expect_all_rows(**batch, cache);  // reads all rows
    }
    EXPECT_GT(reader.stats().check_failures, 0U);
  }
}

}  // namespace
}  // namespace xtts
