#include <gtest/gtest.h>

#include <set>

#include "grown_cache.hpp"
#include "maintain/rewrite.hpp"
#include "request/verify_words.hpp"

namespace xtts::testing {
namespace {

using maintain::RewriteReport;

RewriteReport must_compact(MemoryEnv& env, bool keep_statistics = false) {
  const auto report = maintain::compact(env, {.cache = kCache, .keep_statistics = keep_statistics});
  EXPECT_TRUE(report.ok()) << report.status().message();
  return report.ok() ? *report : RewriteReport{};
}

class Compact : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Compact, GivesTheBytesOfABuildFromNothing) {
  MemoryEnv env;
  build_grown(env, GetParam());
  ASSERT_GT(open_cache(env)->manifest().generation, 1U);
  const auto report = must_compact(env);
  EXPECT_FALSE(report.unchanged);
  EXPECT_EQ(report.generation_before, 2U);
  // 3, 4 and 7 of the first build, and 9, where its text counts.
  const bool has_tokens = open_cache(env)->manifest().find_column("tokens") != nullptr;
  EXPECT_EQ(report.left_behind_count, has_tokens ? 4U : 3U);
  EXPECT_LT(report.bytes_after, report.bytes_before);
  EXPECT_EQ(difference(built_from_nothing(GetParam()), published_files(env)), "");
  EXPECT_EQ(damage_in(env), "");
}

INSTANTIATE_TEST_SUITE_P(
    Storages, Compact,
    ::testing::Values(std::vector<std::string>{}, std::vector<std::string>{"storage.store=hdf5"},
                      std::vector<std::string>{"storage.dtype=float16"},
                      std::vector<std::string>{"storage.dtype=bfloat16", "text.tokens=none"}));

TEST(Compact, LeavesNothingToDoForTheNextBuildOrTheNextCompact) {
  MemoryEnv env;
  build_grown(env);
  must_compact(env);
  const Files compacted = published_files(env);
  OpenedSources opened(env);
  EXPECT_TRUE(must_build(env, grown_request()).unchanged);
  EXPECT_EQ(opened.take(), std::set<std::string>{});
  EXPECT_TRUE(must_compact(env).unchanged);
  EXPECT_EQ(difference(compacted, published_files(env)), "");
}

TEST(Compact, KeepsTheStatisticsWhereItIsAskedTo) {
  MemoryEnv env;
  build_grown(env);
  const auto first = open_cache(env)->manifest().mel_statistics;
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(must_compact(env, true).statistics_changed);
  const auto kept = open_cache(env)->manifest().mel_statistics;
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->mean, first->mean);
  EXPECT_EQ(damage_in(env), "");
}

TEST(Compact, SaysThatTheStatisticsAreOthersNow) {
  MemoryEnv env;
  build_grown(env);
  EXPECT_TRUE(must_compact(env).statistics_changed);
}

TEST(Compact, LeavesAReaderItsGeneration) {
  MemoryEnv env;
  build_grown(env);
  const auto reader = open_cache(env);
  const auto position = reader->find(clip_name(12));
  ASSERT_TRUE(position.ok() && position->has_value());
  const auto before = reader->read_record("mel", **position);
  must_compact(env);
  const auto after = reader->read_record("mel", **position);
  ASSERT_TRUE(after.ok()) << after.status().message();
  EXPECT_EQ(after->bytes, before->bytes);
}

// The next compact finds canonical bytes, and still removes what the reader has held.
TEST(Compact, RemovesTheOldGenerationOnceItsReaderHasEnded) {
  MemoryEnv env;
  build_grown(env);
  auto reader = open_cache(env);
  const auto first = must_compact(env);
  EXPECT_FALSE(first.unchanged);
  EXPECT_GT(first.left_over.held_bytes, 0U);
  const auto second = must_compact(env);
  EXPECT_TRUE(second.unchanged);
  EXPECT_EQ(second.left_over.held_bytes, first.left_over.held_bytes);
  reader.reset();
  const auto third = must_compact(env);
  EXPECT_TRUE(third.unchanged);
  EXPECT_EQ(third.left_over.freed_bytes, first.left_over.held_bytes);
  EXPECT_EQ(difference(built_from_nothing(), published_files(env)), "");
}

// Repair cannot make such a record again, and nobody needs it.
TEST(Compact, LeavesADamagedTombstoneBehind) {
  MemoryEnv env;
  build_grown(env);
  const auto shards = files_named(published_files(env), "shards/mel/00000-");
  ASSERT_EQ(shards.size(), 1U);
  const auto& [name, bytes] = *shards.begin();
  const auto is_of_a_tombstone = [](const verify::Finding& finding) {
    const std::set<std::string> left_behind = {clip_name(3), clip_name(4), clip_name(7)};
    return request::what_of(finding) == "record" && left_behind.contains(finding.clip);
  };
  // The first byte met that is of a record which no clip names: 3, 4 and 7 were left behind.
  bool is_found = false;
  for (std::size_t at = bytes.find("XTTSBLK1"); at < bytes.size() && !is_found; at += 4096) {
    std::string damaged = bytes;
    damaged[at] ^= 1;
    env.add_file(kCache + "/" + name, damaged);
    const auto report = verify::verify_cache(env, kCache, {});
    ASSERT_TRUE(report.ok() && !report->ok);
    is_found = is_of_a_tombstone(report->findings.front());
  }
  ASSERT_TRUE(is_found);
  must_compact(env);
  EXPECT_EQ(difference(built_from_nothing(), published_files(env)), "");
}

TEST(Compact, RefusesACacheWithAnUnfinishedBuild) {
  MemoryEnv env;
  build_grown(env);
  add_listed_sounds(env, 40);
  auto request = grown_request();
  TestObserver observer;
  observer.cancel_at = 10;  // after one sealed shard
  ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  const Files before = files_below(env);
  const auto report = maintain::compact(env, {.cache = kCache});
  EXPECT_EQ(report.status().code(), StatusCode::kMismatch);
  EXPECT_NE(report.status().message().find("unfinished build"), std::string::npos);
  EXPECT_EQ(difference(before, files_below(env)), "");
}

TEST(Compact, OfADamagedRecordLeavesTheCacheAsItWas) {
  MemoryEnv env;
  build_grown(env);
  const std::string shard =
      kCache + "/" + files_named(files_below(env), "shards/mel/").begin()->first;
  std::string bytes = env.contents(shard);
  bytes[3 * 4096 + 100] = static_cast<char>(bytes[3 * 4096 + 100] ^ 1);  // in the first payload
  env.add_file(shard, bytes);
  const Files before = published_files(env);
  const auto report = maintain::compact(env, {.cache = kCache});
  EXPECT_EQ(report.status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(difference(before, published_files(env)), "");
}

}  // namespace
}  // namespace xtts::testing
