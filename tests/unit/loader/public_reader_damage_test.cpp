// Damage to a cache, met by batches: told by name, skipped or ignored, and never a signal.
#include <gtest/gtest.h>
#include <unistd.h>

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

TEST(PublicReaderDamage, FileCutWhileItIsReadIsATypedError) {
  const MadeCache cache({.clip_count = 64, .clips_per_block = 8, .blocks_per_shard = 4});
  const Cache opened = cache.open();
  for (const Shuffle shuffle : {Shuffle::kGlobal, Shuffle::kNone}) {
    Reader reader = open_reader(opened, {.batch_size = 8, .shuffle = shuffle});
    EXPECT_EQ(positions_of_epoch(reader).size(), 64U);  // all mapped and verified
  }
  ASSERT_EQ(::truncate(cache.shard(0, 1).c_str(), 5000), 0);
  Reader reader = open_reader(opened, {.batch_size = 8});
  int failed_count = 0;
  for (std::uint64_t i = 0; i < reader.batches_per_epoch(); ++i) {
    const auto batch = reader.next();
    if (batch.ok()) {
      ASSERT_TRUE(batch->has_value());
      expect_all_rows(**batch, cache);
      continue;
    }
    ++failed_count;
    EXPECT_EQ(batch.status().code(), StatusCode::kCorrupt) << batch.status().message();
    EXPECT_NE(batch.status().message().find("of clip"), std::string::npos)
        << batch.status().message();
  }
  EXPECT_GT(failed_count, 0);
}

TEST(PublicReaderDamage, DamagedHeaderIsHandledLikeADamagedRecordInEachOrder) {
  const MadeCache cache({.clip_count = 16, .clips_per_block = 4, .blocks_per_shard = 2});
  {
    // The header of the second block: its magic is found behind the first one.
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
                                           .on_damage = OnDamage::kSkip});
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

TEST(PublicReaderDamage, UnreadableRecordOfABatchInPlaceIsNeverShown) {
  const MadeCache cache({.clip_count = 64, .clips_per_block = 8, .blocks_per_shard = 4});
  const Cache opened = cache.open();
  ASSERT_EQ(::truncate(cache.shard(0, 0).c_str(), 0), 0);
  for (const OnDamage policy : {OnDamage::kRaise, OnDamage::kSkip, OnDamage::kIgnore}) {
    Reader reader =
        open_reader(opened, {.batch_size = 8, .shuffle = Shuffle::kNone, .on_damage = policy});
    for (std::uint64_t i = 0; i < reader.batches_per_epoch(); ++i) {
      const auto batch = reader.next();
      if (!batch.ok()) continue;
      ASSERT_TRUE(*batch);
      expect_all_rows(**batch, cache);  // reads them
    }
    EXPECT_GT(reader.stats().check_failures, 0U);
  }
}

}  // namespace
}  // namespace xtts
