#include "reader/cache_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <thread>

#include "support/test_cache.hpp"

namespace xtts::reader {
namespace {

using testing::make_test_cache;
using testing::MemoryEnv;
using testing::TestCache;
using testing::TestCacheOptions;
using testing::TestClip;

template <typename T>
std::vector<T> numbers_of(const RecordData& record) {
  std::vector<T> numbers(record.bytes.size() / sizeof(T));
  // An empty vector's memory is null, which memcpy does not take.
  if (!numbers.empty()) std::memcpy(numbers.data(), record.bytes.data(), record.bytes.size());
  return numbers;
}

struct Opened {
  TestCache cache;
  std::unique_ptr<MemoryEnv> env = std::make_unique<MemoryEnv>();
  std::shared_ptr<CacheView> view;
};

Opened open(const TestCacheOptions& options = {}) {
  Opened opened;
  opened.cache = make_test_cache(options);
  opened.cache.add_to(*opened.env, "/cache");
  auto view = CacheView::open(*opened.env, "/cache");
  EXPECT_TRUE(view.ok()) << view.status().message();
  if (view.ok()) opened.view = *view;
  return opened;
}

void expect_every_clip(const Opened& opened) {
  for (std::uint64_t position = 0; position < opened.cache.clips.size(); ++position) {
    const TestClip& clip = opened.cache.clips[position];
    const auto mel = opened.view->read_record("mel", position);
    ASSERT_TRUE(mel.ok()) << mel.status().message();
    EXPECT_EQ(numbers_of<float>(*mel), clip.mel);
    EXPECT_THAT(mel->shape, ::testing::ElementsAre(clip.mel.size() / 5, 5));
    EXPECT_EQ(std::bit_cast<float>(mel->fill_bits), -11.5F);
    const auto tokens = opened.view->read_record("tokens", position);
    ASSERT_TRUE(tokens.ok()) << tokens.status().message();
    EXPECT_EQ(numbers_of<std::int32_t>(*tokens), clip.tokens);
    EXPECT_EQ(tokens->dtype, DType::kInt32);
  }
}

TEST(CacheView, ReadsWhatWasWrittenWhenPadded) {
  expect_every_clip(open());
}

TEST(CacheView, ReadsWhatWasWrittenWhenPacked) {
  expect_every_clip(open({.layout = formats::Layout::kPacked}));
}

TEST(CacheView, ReadsRecordsOfManyShards) {
  expect_every_clip(open({.clip_count = 90, .clips_per_block = 1, .blocks_per_shard = 1}));
}

TEST(CacheView, FindsEachClipByItsIdAndNoOther) {
  const Opened opened = open({.clip_count = 40});
  ASSERT_EQ(opened.view->size(), 40);
  for (std::uint64_t position = 0; position < 40; ++position) {
    const auto found = opened.view->find(opened.cache.clips[position].id);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(*found, std::optional(position));
  }
  EXPECT_EQ(*opened.view->find("clip-99"), std::nullopt);
  EXPECT_EQ(*opened.view->find(""), std::nullopt);
}

TEST(CacheView, FindsClipsBelowTheirDataSet) {
  const Opened opened = open({.dataset = "lj"});
  EXPECT_EQ(*opened.view->find("lj/clip-103"), std::optional<std::uint64_t>(3));
  EXPECT_EQ(*opened.view->find("clip-103"), std::nullopt);
  expect_every_clip(opened);
}

TEST(CacheView, TellsDetailsPlanRejectsAndTombstones) {
  const Opened opened = open({.tombstone_count = 3});
  const auto facts = opened.view->details(2);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->id, "clip-102");
  EXPECT_EQ(facts->source_path, "wavs/clip-102.wav");
  EXPECT_EQ(opened.view->plan_row(2)->mel_len * 5, opened.cache.clips[2].mel.size());
  EXPECT_EQ(*opened.view->rejects_jsonl(), opened.cache.files.at("rejects.jsonl"));
  EXPECT_EQ(opened.view->tombstones()->size(), 6);  // three clips in two columns
  EXPECT_EQ(opened.view->size(), 7);
}

TEST(CacheView, TellsTheFactsOfABlock) {
  const Opened opened = open();
  const auto facts = opened.view->block_facts(0, 1);
  ASSERT_TRUE(facts.ok()) << facts.status().message();
  EXPECT_EQ(facts->records[0].id, "clip-102");
  EXPECT_EQ(opened.view->block_count(0), 4);
}

TEST(CacheView, NamesWhatIsNotThere) {
  const Opened opened = open();
  EXPECT_EQ(opened.view->read_record("energy", 0).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(opened.view->read_record("mel", 7).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(opened.view->details(7).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(opened.view->block_facts(0, 4).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(opened.view->block_facts(2, 0).status().code(), StatusCode::kNotFound);
}

TEST(CacheView, OpensAnEmptyCache) {
  const Opened opened = open({.clip_count = 0});
  EXPECT_EQ(opened.view->size(), 0);
  EXPECT_EQ(*opened.view->find("clip-100"), std::nullopt);
  EXPECT_EQ(opened.view->plan_row(0).status().code(), StatusCode::kNotFound);
}

TEST(CacheView, ServesManyThreads) {
  const Opened opened = open({.clip_count = 60, .blocks_per_shard = 1});
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (std::uint64_t first = 0; first < 4; ++first) {
    threads.emplace_back([&, first] {
      for (std::uint64_t i = 0; i < 240; ++i) {
        const std::uint64_t position = (first * 17 + i) % 60;
        const auto mel = opened.view->read_record("mel", position);
        if (!mel.ok() || numbers_of<float>(*mel) != opened.cache.clips[position].mel) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace xtts::reader
