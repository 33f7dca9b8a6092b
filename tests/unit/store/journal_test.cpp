#include "store/journal.hpp"

#include <gtest/gtest.h>

#include "formats/rules.hpp"
#include "image_samples.hpp"
#include "support/memory_env.hpp"

namespace xtts::testing {
namespace {

using store::Journal;
using store::JournalHead;
using store::JournalShard;
using store::SealedShard;

constexpr const char* kPath = "/cache/.build/journal";

JournalHead sample_head() {
  return {.plan = digest128("plan"),
          .features_fingerprint = digest128("features"),
          .storage_fingerprint = digest128("storage"),
          .numerics = digest128("numerics"),
          .generation = 3};
}

JournalShard sample_shard(std::uint64_t number) {
  const auto store = number == 2 ? formats::StoreKind::kHdf5 : formats::StoreKind::kLmdb;
  const SampleImage sample = sample_image(mel_column({10, 3}), 70, number, 0, store);
  const auto sealed = [&](const char* column) {
    return SealedShard{.column = column,
                       .store = store,
                       .ordinal = number,
                       .record_count = sample.finished.record_count,
                       .digest = sample.finished.table.digest(),
                       .table = sample.finished.table};
  };
  return {
      .planned_shard = number,
      .sealed = {sealed("mel"), sealed("wave")},
      .rejects = {{.kind = formats::RejectClass::kPolicy,
                   .id = "گفتار-" + std::to_string(number),
                   .path = "a\tb\n.wav",
                   .line = std::nullopt,
                   .reason = {.rule = formats::Rule::kDecodeFailed, .detail = "too \"long\""}}}};
}

void expect_equal(const JournalShard& a, const JournalShard& b) {
  EXPECT_EQ(a.planned_shard, b.planned_shard);
  EXPECT_EQ(a.rejects, b.rejects);
  ASSERT_EQ(a.sealed.size(), b.sealed.size());
  for (std::size_t i = 0; i < a.sealed.size(); ++i) {
    EXPECT_EQ(a.sealed[i].column, b.sealed[i].column);
    EXPECT_EQ(a.sealed[i].store, b.sealed[i].store);
    EXPECT_EQ(a.sealed[i].ordinal, b.sealed[i].ordinal);
    EXPECT_EQ(a.sealed[i].record_count, b.sealed[i].record_count);
    EXPECT_EQ(a.sealed[i].digest, b.sealed[i].digest);
    EXPECT_EQ(a.sealed[i].table.file_bytes, b.sealed[i].table.file_bytes);
    EXPECT_EQ(a.sealed[i].table.structure_check, b.sealed[i].table.structure_check);
    EXPECT_EQ(a.sealed[i].table.blocks, b.sealed[i].table.blocks);
  }
}

// Three lines behind the head: two shards, and one without survivors between them.
class JournalOfThree : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = store::CacheFolder::open(env_, "/cache");
    ASSERT_TRUE(folder.ok()) << folder.status().message();
    folder_ = std::move(*folder);
    auto opened = Journal::open(env_, *folder_, sample_head());
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    EXPECT_TRUE(opened->shards.empty());
    for (const JournalShard& shard : shards_) ASSERT_TRUE(opened->journal->append(shard).ok());
    text_ = env_.contents(kPath);
  }

  // Counts the shards that a new builder finds.
  [[nodiscard]] std::size_t count_after(const std::string& text) {
    env_.add_file(kPath, text);
    const auto opened = Journal::open(env_, *folder_, sample_head());
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened->shards.size();
  }

  MemoryEnv env_;
  std::unique_ptr<store::CacheFolder> folder_;
  std::vector<JournalShard> shards_ = {
      sample_shard(0), {.planned_shard = 1, .sealed = {}, .rejects = {}}, sample_shard(2)};
  std::string text_;
};

TEST_F(JournalOfThree, IsContinuedWhereItEnded) {
  auto opened = Journal::open(env_, *folder_, sample_head());
  ASSERT_TRUE(opened.ok());
  ASSERT_EQ(opened->shards.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) expect_equal(opened->shards[i], shards_[i]);
  ASSERT_TRUE(opened->journal->append(sample_shard(3)).ok());
  opened = Journal::open(env_, *folder_, sample_head());
  ASSERT_EQ(opened->shards.size(), 4U);
  expect_equal(opened->shards[3], sample_shard(3));
}

// In the folder as a builder opens it, whose own name must be durable too.
TEST(Journal, EveryLineSurvivesAPowerCut) {
  MemoryEnv env;
  env.add_folder("/data");
  const auto folder = store::CacheFolder::open(env, "/data/cache");
  ASSERT_TRUE(folder.ok());
  const auto opened = Journal::open(env, **folder, sample_head());
  for (std::uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(opened->journal->append(sample_shard(i)).ok());
  }
  env.forget_unsynced();
  EXPECT_EQ(Journal::open(env, **folder, sample_head())->shards.size(), 3U);
}

TEST_F(JournalOfThree, ATornLineIsNoLineWhereverItIsTorn) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') ends.push_back(i + 1);
  }
  ASSERT_EQ(ends.size(), 4U);
  for (std::size_t cut = ends[0]; cut < text_.size(); cut += 7) {
    const auto whole = std::ranges::upper_bound(ends, cut) - ends.begin() - 1;
    EXPECT_EQ(count_after(text_.substr(0, cut)), static_cast<std::size_t>(whole)) << cut;
  }
}

TEST_F(JournalOfThree, WhatIsAppendedAfterATornLineIsRead) {
  env_.add_file(kPath, text_.substr(0, text_.size() - 20));
  auto opened = Journal::open(env_, *folder_, sample_head());
  ASSERT_EQ(opened->shards.size(), 2U);
  ASSERT_TRUE(opened->journal->append(shards_[2]).ok());
  EXPECT_EQ(env_.contents(kPath), text_);
}

TEST_F(JournalOfThree, GarbageBehindTheLastLineIsDropped) {
  EXPECT_EQ(count_after(text_ + std::string(100, '\0')), 3U);
  EXPECT_EQ(count_after(text_ + "{}\t0123456789abcdef\n"), 3U);
  EXPECT_EQ(env_.contents(kPath), text_);
}

TEST_F(JournalOfThree, NothingBehindADamagedLineIsBelieved) {
  const std::size_t second = text_.find('\n') + 1;
  for (std::size_t i = second; i < text_.size(); i += 11) {
    std::string damaged = text_;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    const std::size_t lines_before =
        static_cast<std::size_t>(std::ranges::count(text_.substr(0, i), '\n')) - 1;
    EXPECT_EQ(count_after(damaged), lines_before) << i;
  }
}

TEST_F(JournalOfThree, AnotherPlanBeginsANewOne) {
  JournalHead other = sample_head();
  other.plan = digest128("another plan");
  auto opened = Journal::open(env_, *folder_, other);
  ASSERT_TRUE(opened.ok());
  EXPECT_TRUE(opened->shards.empty());
}

TEST_F(JournalOfThree, EveryPartOfTheHeadCounts) {
  const auto replaces = [&](auto change) {
    env_.add_file(kPath, text_);
    JournalHead other = sample_head();
    change(other);
    return Journal::open(env_, *folder_, other)->shards.empty();
  };
  EXPECT_TRUE(replaces([](JournalHead& head) { head.features_fingerprint.low ^= 1; }));
  EXPECT_TRUE(replaces([](JournalHead& head) { head.storage_fingerprint.high ^= 1; }));
  EXPECT_TRUE(replaces([](JournalHead& head) { head.numerics.low ^= 1; }));
  EXPECT_TRUE(replaces([](JournalHead& head) { head.generation = 4; }));
  EXPECT_FALSE(replaces([](JournalHead&) {}));
}

TEST_F(JournalOfThree, AfterAFailedSyncNoLineIsWritten) {
  auto opened = Journal::open(env_, *folder_, sample_head());
  bool fail = true;
  env_.set_hook([&](EnvOperation& operation) {
    if (operation.call != EnvCall::kSync || !fail) return Status();
    fail = false;
    return Status(StatusCode::kResource, "input/output error");
  });
  EXPECT_EQ(opened->journal->append(sample_shard(3)).code(), StatusCode::kResource);
  const std::string after = env_.contents(kPath);
  EXPECT_EQ(opened->journal->append(sample_shard(4)).code(), StatusCode::kResource);
  EXPECT_EQ(env_.contents(kPath), after);
}

}  // namespace
}  // namespace xtts::testing
