// A set of parts reads as the cache that one build makes: clips, order, statistics, resume.
#include "maintain/make_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grown_cache.hpp"
#include "loader/loader.hpp"
#include "loader/stored_source.hpp"
#include "reader/cache_set.hpp"
#include "reader/set_file.hpp"

namespace xtts::testing {
namespace {

using loader::Loader;
using reader::CacheSet;
using ::testing::HasSubstr;

const std::string kSet = "/set";

std::shared_ptr<CacheSet> open_set(Env& env, const std::string& path = kSet) {
  auto set = CacheSet::open(env, std::span(&path, 1));
  EXPECT_TRUE(set.ok()) << set.status().message();
  return set.ok() ? *set : nullptr;
}

pipeline::BuildRequest part_request(std::uint32_t index, std::uint32_t count) {
  auto request = grown_request();
  request.options.cache = kSet + "/parts/" + std::to_string(index);
  request.partition = {.index = index, .count = count};
  return request;
}

// The positions of an epoch, batch by batch, and the state in its midst.
struct Epoch {
  std::vector<std::vector<std::uint64_t>> batches;
  ReaderState middle;
};

Epoch epoch_of(const std::shared_ptr<CacheSet>& set, const ReaderOptions& options,
               const ReaderState* from = nullptr) {
  Epoch epoch;
  const auto loader = Loader::open(std::make_shared<loader::StoredSource>(set), options);
  EXPECT_TRUE(loader.ok()) << loader.status().message();
  if (!loader.ok()) return epoch;
  if (from == nullptr) {
    (*loader)->set_epoch(3);
  } else {
    EXPECT_TRUE((*loader)->load_state(*from).ok());
  }
  for (;;) {
    const auto lease = (*loader)->next();
    EXPECT_TRUE(lease.ok()) << lease.status().message();
    if (!lease.ok() || !*lease) return epoch;
    epoch.batches.push_back((**lease)->clips.positions);
    if (epoch.batches.size() == 2) epoch.middle = (*loader)->state();
  }
}

class SetOfParts : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  void SetUp() override {
    add_grown_data(env_);
    must_build(env_, grown_request());
    for (std::uint32_t index = GetParam(); index >= 1; --index) {
      must_build(env_, part_request(index, GetParam()));
      parts_.push_back(part_request(index, GetParam()).options.cache);
    }
  }
  Result<maintain::SetReport> make(const std::vector<std::string>& caches) {
    return maintain::make_set(
        env_, {.to = kSet, .caches = caches, .max_rejects = {.share = 1.0}, .max_losses = {1, 1}});
  }

  MemoryEnv env_;
  std::vector<std::string> parts_;
};

TEST_P(SetOfParts, HoldsTheClipsOfOneBuild) {
  const auto report = make(parts_);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->are_parts);
  const auto set = open_set(env_);
  const auto whole = open_cache(env_);
  ASSERT_EQ(set->size(), whole->size());
  for (std::uint64_t position = 0; position < set->size(); ++position) {
    const auto facts = set->details(position);
    ASSERT_TRUE(facts.ok()) << facts.status().message();
    EXPECT_EQ(full_id(*facts), full_id(*whole->details(position)));
    const auto row = *set->plan_row(position);
    const auto expected = *whole->plan_row(position);
    EXPECT_EQ(row.speaker, expected.speaker);
    EXPECT_EQ(row.dataset, expected.dataset);
    EXPECT_EQ(row.mel_len, expected.mel_len);
    EXPECT_EQ(row.text_len, expected.text_len);
    EXPECT_EQ(*set->find(full_id(*facts)), position);
    const auto place = set->locate(position);
    for (const char* column : {"mel", "tokens"})
      EXPECT_EQ((*set->cache(place.table))->read_record(column, place.position)->bytes,
                whole->read_record(column, position)->bytes);
  }
}

// To the bit: sums are added without rounding.
TEST_P(SetOfParts, HasTheManifestOfOneBuild) {
  ASSERT_TRUE(make(parts_).ok());
  const auto set = open_set(env_);
  formats::Manifest whole = open_cache(env_)->manifest();
  for (auto& column : whole.columns) column.shards.clear();
  EXPECT_EQ(*formats::encode_manifest_copy(set->whole()), *formats::encode_manifest_copy(whole));
  ASSERT_TRUE(whole.mel_statistics.has_value());
  EXPECT_EQ(set->statistics(*set->find_column("mel"))->mean, whole.mel_statistics->mean);
}

TEST_P(SetOfParts, HasTheOrderOfOneBuild) {
  ASSERT_TRUE(make(parts_).ok());
  const std::vector<std::string> one{kCache};
  const auto whole = *CacheSet::open(env_, one);
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kGlobal, Shuffle::kWindow}) {
    for (const char* split : {"", "train"}) {
      for (const char* where : {"", "mel_len > 20"}) {
        ReaderOptions options{.batch_size = 3, .split = split, .seed = 5};
        options.where = where;
        options.shuffle = shuffle;
        options.stretch_samples = 2;
        options.stretches_per_window = 2;
        options.last_batch = LastBatch::kPad;
        const Epoch expected = epoch_of(whole, options);
        const Epoch found = epoch_of(open_set(env_), options);
        EXPECT_EQ(found.batches, expected.batches);
        EXPECT_FALSE(found.batches.empty());
        // A state leads on in a set that is opened again.
        const Epoch rest = epoch_of(open_set(env_), options, &found.middle);
        EXPECT_TRUE(std::ranges::equal(rest.batches, std::span(expected.batches).subspan(2)));
      }
    }
  }
}

TEST_P(SetOfParts, HasTheWeightsAndBucketsOfOneBuild) {
  ASSERT_TRUE(make(parts_).ok());
  const std::vector<std::string> one{kCache};
  ReaderOptions weighted{.batch_size = 3, .seed = 9};
  weighted.weights = Weights{.by = WeightBy::kSpeaker, .temperature = 0.5};
  ReaderOptions bucketed{.seed = 9};
  bucketed.buckets = {{.batch_size = 4, .frames_max = 30}, {.batch_size = 2, .frames_max = 80}};
  for (const ReaderOptions& options : {weighted, bucketed})
    EXPECT_EQ(epoch_of(open_set(env_), options).batches,
              epoch_of(*CacheSet::open(env_, one), options).batches);
}

INSTANTIATE_TEST_SUITE_P(Counts, SetOfParts, ::testing::Values(1, 2, 3, 7));

class SetOfTwo : public SetOfParts {};

TEST_P(SetOfTwo, IsRefusedWherePartsDoNotGoTogether) {
  const auto refusal = [&](const std::vector<std::string>& caches) {
    return make(caches).status();
  };
  EXPECT_THAT(refusal({parts_[0]}).message(), HasSubstr("part 1/2 is missing"));
  EXPECT_THAT(refusal({parts_[0], parts_[1], parts_[1]}).message(), HasSubstr("given twice"));
  EXPECT_THAT(refusal({parts_[0], kCache}).message(), HasSubstr("one a whole cache"));
  EXPECT_THAT(refusal({}).message(), HasSubstr("no caches are named"));
  EXPECT_EQ(refusal({kCache, kCache}).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refusal({kCache, kCache}).message(), HasSubstr("a set has each clip once"));
  EXPECT_FALSE(env_.stat(kSet + "/set.json").ok());
  auto other = part_request(1, 2);
  other.recipe = recipe_of_small_shards({"features.mel.n_mels=40"});
  other.options.cache = "/other";
  must_build(env_, other);
  EXPECT_THAT(refusal({"/other", parts_[0]}).message(), HasSubstr("other settings"));
}

TEST_P(SetOfTwo, IsRefusedInACachesFolder) {
  const Status status =
      maintain::make_set(env_, {.to = kCache, .caches = parts_, .max_rejects = {.share = 1.0}})
          .status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("holds a cache"));
}

TEST_P(SetOfTwo, CountsLossesOverAllParts) {
  const auto limited = [&](pipeline::RejectLimit limit) {
    return maintain::make_set(
               env_, {.to = kSet, .caches = parts_, .max_rejects = limit, .max_losses = {1, 1}})
        .status()
        .code();
  };
  EXPECT_EQ(limited({.count = 0}), StatusCode::kTooManyRejects);
  EXPECT_EQ(limited({.count = 1}), StatusCode::kOk);
}

TEST_P(SetOfTwo, TellsOfAPartThatWasBuiltAnew) {
  ASSERT_TRUE(make(parts_).ok());
  const auto set = open_set(env_);
  auto anew = part_request(2, 2);
  anew.options.overwrite = true;
  anew.recipe = recipe_of_small_shards({"storage.dtype=float16"});
  must_build(env_, anew);
  const auto last = set->plan_row(set->size() - 1);
  EXPECT_EQ(last.status().code(), StatusCode::kMismatch);
  EXPECT_THAT(last.status().message(), HasSubstr("make the set anew"));
  EXPECT_TRUE(set->plan_row(0).ok());
}

TEST_P(SetOfTwo, IsCheckedBesideAnotherCacheToo) {
  ASSERT_TRUE(make(parts_).ok());
  auto anew = part_request(2, 2);
  anew.options.overwrite = true;
  anew.recipe = recipe_of_small_shards({"features.pad_value=-1"});
  must_build(env_, anew);
  const std::vector<std::string> both{kSet, kCache};
  const auto set = CacheSet::open(env_, both);
  EXPECT_EQ(set.status().code(), StatusCode::kMismatch);
  EXPECT_THAT(set.status().message(), HasSubstr("make the set anew"));
}

// A set.json whose digest is right may still tell what is untrue.
TEST_P(SetOfTwo, IsRefusedWhereItTellsOfOtherCaches) {
  ASSERT_TRUE(make(parts_).ok());
  const auto sound = *formats::decode_set(env_.contents(kSet + "/set.json"));
  const auto refusal_of = [&](const auto& change) {
    formats::SetManifest set = sound;
    change(set);
    env_.add_file(kSet + "/set.json", *formats::encode_set(set));
    const auto opened = CacheSet::open(env_, kSet);
    if (!opened) return opened.status();
    for (std::size_t i = 0; i < (*opened)->cache_count(); ++i)
      if (const auto cache = (*opened)->cache(i); !cache.ok()) return cache.status();
    return Status();
  };
  EXPECT_TRUE(refusal_of([](auto&) {}).ok());
  const auto with_dtype = [](formats::SetManifest& set) {
    set.whole.columns.front().spec.dtype = DType::kFloat16;
  };
  EXPECT_THAT(refusal_of(with_dtype).message(), HasSubstr("tells of other columns"));
  const auto with_shape = [](formats::SetManifest& set) {
    set.whole.columns.front().spec.shape.front() -= 1;
  };
  EXPECT_THAT(refusal_of(with_shape).message(), HasSubstr("tells of other columns"));
  const auto with_split = [](formats::SetManifest& set) {
    set.members.front().groups.front().split ^= 1U;
  };
  EXPECT_THAT(refusal_of(with_split).message(), HasSubstr("tells of other splits"));
  const auto with_more = [](formats::SetManifest& set) {
    ++set.members.front().groups.front().clip_count;
    ++set.whole.counts.records;
  };
  EXPECT_THAT(refusal_of(with_more).message(), HasSubstr("tells of other splits"));
  const auto with_name = [](formats::SetManifest& set) { set.whole.datasets = {"other"}; };
  EXPECT_THAT(refusal_of(with_name).message(), HasSubstr("tells of other names"));
}

TEST_P(SetOfTwo, MovesWithTheCachesBelowIt) {
  ASSERT_TRUE(make(parts_).ok());
  for (const auto& [path, bytes] : files_below(env_, kSet)) env_.add_file("/moved/" + path, bytes);
  EXPECT_EQ(open_set(env_, "/moved")->cache(1).value()->path(), "/moved/parts/2");
}

// Each letter: damage is found before anything is believed.
TEST_P(SetOfTwo, IsRefusedWhereALetterIsAnother) {
  ASSERT_TRUE(make(parts_).ok());
  const std::string sound = env_.contents(kSet + "/set.json");
  for (std::size_t i = 0; i < sound.size(); i += 7) {
    std::string damaged = sound;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_EQ(formats::decode_set(damaged).status().code(), StatusCode::kCorrupt) << i;
  }
  EXPECT_TRUE(formats::decode_set(sound).ok());
}

TEST_P(SetOfTwo, OfWholeCachesJoinsTheirNames) {
  auto second = request_for(recipe_of_small_shards({}), 1);
  second.data.path = "/more";
  second.options.cache = kSet + "/second";
  for (std::uint32_t i = 50; i < 60; ++i) env_.add_file("/more/" + clip_name(i) + ".wav", sound(i));
  must_build(env_, second);
  const auto report = make({kCache, kSet + "/second"});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_FALSE(report->are_parts);
  const auto set = open_set(env_);
  EXPECT_EQ(set->size(), open_cache(env_)->size() + 10);
  EXPECT_THAT(set->whole().datasets, ::testing::ElementsAre(kCache, "second"));
  EXPECT_EQ(set->plan_row(set->size() - 1)->dataset, 1);
  EXPECT_EQ(set->whole().columns.size(), 1U) << "the second cache has no texts";
  EXPECT_TRUE(set->whole().mel_statistics.has_value());
}

TEST_P(SetOfTwo, MayBeOfOneCache) {
  ASSERT_TRUE(make({kCache}).ok());
  const auto set = open_set(env_);
  EXPECT_EQ(set->size(), open_cache(env_)->size());
  EXPECT_EQ(set->plan_row(0)->dataset, 0);
}

INSTANTIATE_TEST_SUITE_P(Two, SetOfTwo, ::testing::Values(2));

}  // namespace
}  // namespace xtts::testing
