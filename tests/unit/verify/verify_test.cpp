#include "verify/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "request/verify_words.hpp"
#include "support/test_cache.hpp"

namespace xtts::verify {
namespace {

using ::testing::AllOf;
using testing::EnvCall;
using testing::EnvOperation;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::make_test_cache;
using testing::MemoryEnv;
using testing::TestCache;

Report verify(MemoryEnv& env, Level level, std::uint32_t threads = 1) {
  const auto report = verify_cache(env, "/cache", {.level = level, .thread_count = threads});
  EXPECT_TRUE(report.ok()) << report.status().message();
  return report.ok() ? *report : Report{};
}

Report verify(const TestCache& cache, Level level, std::uint32_t threads = 1) {
  MemoryEnv env;
  cache.add_to(env, "/cache");
  return verify(env, level, threads);
}

void flip(std::string& bytes, std::size_t offset) {
  bytes[offset] = static_cast<char>(bytes[offset] ^ 1);
}

TEST(Verify, FindsNothingInASoundCache) {
  for (const formats::Layout layout : {formats::Layout::kPadded, formats::Layout::kPacked}) {
    const TestCache cache =
        make_test_cache({.layout = layout, .tombstone_count = 3, .dataset = "lj"});
    for (const Level level : {Level::kQuick, Level::kFull}) {
      const Report report = verify(cache, level);
      EXPECT_TRUE(report.ok);
      EXPECT_THAT(report.findings, IsEmpty()) << request::words_of(report.findings[0].found);
      EXPECT_EQ(report.shard_count, 6);
    }
    EXPECT_EQ(verify(cache, Level::kFull).record_count, 20);  // of both columns, tombstones counted
  }
}

TEST(Verify, ChecksEachPublishedByteOnce) {
  const TestCache cache = make_test_cache();
  std::uint64_t bytes = 0;
  for (const auto& [name, contents] : cache.files)
    bytes += name == "rejects.jsonl" ? 0 : contents.size();
  EXPECT_EQ(verify(cache, Level::kFull).bytes_checked, bytes);
}

TEST(Verify, NamesClipFileOffsetAndChecksOfADamagedRecord) {
  TestCache cache = make_test_cache();
  const std::string shard = cache.shard_name(0, 1);  // clips 104 to 106, two in a block
  const std::size_t payload = 3 * formats::kPageBytes;
  const std::size_t record = 24 * 5 * 4;
  flip(cache.files[shard], payload + record + 17);
  const Report report = verify(cache, Level::kFull);
  EXPECT_FALSE(report.ok);
  ASSERT_EQ(report.findings.size(), 1);
  const Finding& finding = report.findings[0];
  EXPECT_EQ(finding.file, shard);
  EXPECT_EQ(finding.offset_bytes, payload + record);
  EXPECT_EQ(finding.clip, "clip-105");
  EXPECT_EQ(finding.column, "mel");
  EXPECT_EQ(request::what_of(finding), "record");
  EXPECT_NE(request::words_of(finding.expected), request::words_of(finding.found));
  ASSERT_TRUE(report.remedy);
  EXPECT_THAT(request::command_of(*report.remedy), HasSubstr("--repair"));
  EXPECT_TRUE(verify(cache, Level::kQuick).ok);  // quick does not look at payloads
}

TEST(Verify, TellsWhichClipsGoWithAHeader) {
  TestCache cache = make_test_cache();
  flip(cache.files[cache.shard_name(0, 0)], 2 * formats::kPageBytes + 16 + 100);
  const Report report = verify(cache, Level::kFull);
  ASSERT_EQ(report.findings.size(), 1);
  EXPECT_EQ(request::what_of(report.findings[0]), "block header");
  EXPECT_THAT(request::words_of(report.findings[0].found), HasSubstr("clips clip-100 to clip-101"));
}

TEST(Verify, FindsAMissingShardAtBothLevels) {
  TestCache cache = make_test_cache();
  const std::string shard = cache.shard_name(1, 0);
  cache.files.erase(shard);
  for (const Level level : {Level::kQuick, Level::kFull}) {
    const Report report = verify(cache, level);
    ASSERT_EQ(report.findings.size(), 1);
    EXPECT_THAT(report.findings[0],
                AllOf(Field(&Finding::file, shard), Field(&Finding::check, Check::kMissingFile),
                      Field(&Finding::column, "tokens")));
  }
}

TEST(Verify, FindsAShardOfAnotherSizeAtBothLevels) {
  for (const int change : {-1, 1}) {
    TestCache cache = make_test_cache();
    std::string& shard = cache.files[cache.shard_name(0, 0)];
    shard.resize(shard.size() + static_cast<std::size_t>(change), 'x');
    for (const Level level : {Level::kQuick, Level::kFull}) {
      const Report report = verify(cache, level);
      ASSERT_FALSE(report.findings.empty());
      EXPECT_EQ(request::what_of(report.findings[0]), "file size");
      EXPECT_EQ(report.finding_count, 1);
    }
  }
}

TEST(Verify, NamesEachClipBehindTheCut) {
  TestCache cache = make_test_cache();
  std::string& shard = cache.files[cache.shard_name(0, 0)];
  shard.resize(3 * formats::kPageBytes + 10);  // within the first record of the first block
  const Report report = verify(cache, Level::kFull);
  std::vector<std::string> clips;
  for (const Finding& finding : report.findings) {
    if (request::what_of(finding) == "record") clips.push_back(finding.clip);
  }
  EXPECT_THAT(clips, ::testing::ElementsAre("clip-100", "clip-101"));
  EXPECT_THAT(report.findings, ::testing::Contains(Field(&Finding::check, Check::kFileSize)));
  EXPECT_THAT(report.findings, ::testing::Contains(Field(&Finding::check, Check::kBlockHeader)));
}

TEST(Verify, SaysThatAStaleRejectsListIsHarmless) {
  TestCache cache = make_test_cache();
  cache.files["rejects.jsonl"] += "{}\n";
  const Report report = verify(cache, Level::kQuick);
  EXPECT_TRUE(report.ok);
  ASSERT_EQ(report.findings.size(), 1);
  EXPECT_EQ(report.findings[0].weight, Weight::kNote);
  EXPECT_EQ(report.findings[0].file, "rejects.jsonl");
  cache.files.erase("rejects.jsonl");
  EXPECT_EQ(verify(cache, Level::kQuick).findings.size(), 1);
}

TEST(Verify, LeavesStrayFilesAlone) {
  TestCache cache = make_test_cache();
  cache.files["shards/mel/00099-00000000000000000000000000000000.lmdb"] = "left by a crash";
  cache.files["sources.bin"] = "nonsense";
  EXPECT_THAT(verify(cache, Level::kFull).findings, IsEmpty());
}

TEST(Verify, ReportsADamagedManifestAndNothingElse) {
  TestCache cache = make_test_cache();
  flip(cache.files["manifest.json"], 100);
  for (const Level level : {Level::kQuick, Level::kFull}) {
    const Report report = verify(cache, level);
    ASSERT_EQ(report.findings.size(), 1);
    EXPECT_EQ(report.findings[0].file, "manifest.json");
    EXPECT_FALSE(report.ok);
  }
}

TEST(Verify, CannotBeginWhereThereIsNoCache) {
  MemoryEnv env;
  EXPECT_EQ(verify_cache(env, "/cache", {}).status().code(), StatusCode::kNotFound);
}

TEST(Verify, TellsAFailingDiskFromDamage) {
  MemoryEnv env;
  const TestCache cache = make_test_cache();
  cache.add_to(env, "/cache");
  const std::string shard = cache.shard_name(0, 0);
  env.set_hook([&](EnvOperation& operation) {
    const bool hit = operation.call == EnvCall::kRead && operation.path == "/cache/" + shard;
    return hit ? Status(StatusCode::kResource, "Input/output error") : Status();
  });
  const Report report = verify(env, Level::kFull);
  EXPECT_FALSE(report.ok);
  for (const Finding& finding : report.findings) {
    EXPECT_EQ(finding.file, shard);
    EXPECT_THAT(request::what_of(finding), ::testing::StartsWith("unreadable "));
    EXPECT_THAT(request::words_of(finding.found), HasSubstr("Input/output error"));
  }
}

TEST(Verify, ReportsTheSameForAnyNumberOfThreads) {
  TestCache cache = make_test_cache({.clip_count = 40, .blocks_per_shard = 1});
  for (const std::size_t shard : {3U, 11U, 17U})
    flip(cache.files[cache.shard_name(0, shard)], 3 * 4096 + 1);
  cache.files.erase(cache.shard_name(1, 2));
  const Report one = verify(cache, Level::kFull, 1);
  ASSERT_EQ(one.findings.size(), 4);
  for (const std::uint32_t threads : {2U, 3U, 16U}) {
    const Report many = verify(cache, Level::kFull, threads);
    ASSERT_EQ(many.findings.size(), one.findings.size());
    EXPECT_EQ(many.bytes_checked, one.bytes_checked);
    for (std::size_t i = 0; i < one.findings.size(); ++i) {
      EXPECT_EQ(many.findings[i].file, one.findings[i].file);
      EXPECT_EQ(request::words_of(many.findings[i].found),
                request::words_of(one.findings[i].found));
    }
  }
}

TEST(Verify, ReportsProgressUpToTheTotal) {
  MemoryEnv env;
  make_test_cache().add_to(env, "/cache");
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  const auto report =
      verify_cache(env, "/cache", {.progress = [&](std::uint64_t done, std::uint64_t all) {
                     EXPECT_GT(done, last);
                     last = done;
                     total = all;
                   }});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(last, total);
}

TEST(Verify, StopsWhenItIsAsked) {
  MemoryEnv env;
  make_test_cache().add_to(env, "/cache");
  int asked = 0;
  const auto report = verify_cache(env, "/cache", {.cancelled = [&] { return ++asked > 5; }});
  EXPECT_EQ(report.status().code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace xtts::verify
