// Tests of several caches that are opened as one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "made_cache.hpp"

namespace xtts {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PublicReaderCaches : public ::testing::Test {
 protected:
  [[nodiscard]] Cache open() const {
    auto cache = Cache::open(std::vector{first_.path(), second_.path()});
    EXPECT_TRUE(cache.ok()) << cache.status().message();
    return std::move(*cache);
  }
  [[nodiscard]] const testing::TestClip& clip(std::uint64_t position) const {
    const auto& clips = first_.made().clips;
    return position < clips.size() ? clips[position]
                                   : second_.made().clips[position - clips.size()];
  }

  MadeCache first_{{.clip_count = 40, .dataset = "a", .speaker_count = 2}};
  MadeCache second_{{.layout = formats::Layout::kPacked,
                     .clip_count = 21,
                     .dataset = "b",
                     .speaker_count = 3,
                     .edit_clip = [](testing::TestClip& clip) {
                       for (float& number : clip.mel) number = -number;
                     }}};
};

TEST_F(PublicReaderCaches, AreOneCacheOfAllClipsOneAfterTheOther) {
  const Cache cache = open();
  EXPECT_EQ(cache.size(), 61U);
  EXPECT_THAT(cache.paths(), ElementsAre(first_.path(), second_.path()));
  EXPECT_THAT(cache.speakers(), ElementsAre("Linda", "speaker-1", "speaker-2"));
  EXPECT_EQ(*cache.find("b/clip-103"), std::optional<std::uint64_t>(43));
  EXPECT_EQ(*cache.id(43), "b/clip-103");
  EXPECT_EQ(cache.clip(41)->speaker, cache.clip(3)->speaker);  // each cache numbers its own
  EXPECT_EQ(cache.clip(43)->dataset, "b");
  EXPECT_EQ(*cache.find("c/clip-103"), std::nullopt);
  for (const std::uint64_t position : {0, 39, 40, 60}) {
    EXPECT_TRUE(std::ranges::equal(*cache.read("mel", position)->as_floats(), clip(position).mel));
    EXPECT_TRUE(std::ranges::equal(*cache.view("mel", position)->as_floats(), clip(position).mel));
  }
  EXPECT_EQ(cache.read("mel", 61).status().code(), StatusCode::kNotFound);
  EXPECT_NE(cache.digest(), first_.open().digest());
}

TEST_F(PublicReaderCaches, AreShuffledTogether) {
  const Cache cache = open();
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kGlobal, Shuffle::kWindow}) {
    Reader reader = open_reader(cache, {.batch_size = 4,
                                        .shuffle = shuffle,
                                        .last_batch = LastBatch::kPad,
                                        .stretch_samples = 6,
                                        .stretches_per_window = 3});
    std::set<std::uint64_t> seen;
    std::size_t mixed_count = 0;
    for (;;) {
      const auto batch = reader.next();
      ASSERT_TRUE(batch.ok()) << batch.status().message();
      if (!*batch) break;
      std::set<bool> sources;
      for (std::uint32_t row = 0; row < (*batch)->valid_count(); ++row) {
        const std::uint64_t position = (*batch)->positions()[row];
        EXPECT_TRUE(seen.insert(position).second);
        sources.insert(position < 40);
        expect_clip(**batch, row, clip(position), first_.options().channel_count);
        EXPECT_EQ(cache.speakers()[static_cast<std::size_t>((*batch)->speakers()[row])],
                  cache.clip(position)->speaker);
      }
      if (sources.size() == 2) ++mixed_count;
    }
    EXPECT_EQ(seen.size(), 61U);
    if (shuffle == Shuffle::kGlobal) {
      EXPECT_GT(mixed_count, 5U);
    }
  }
}

TEST_F(PublicReaderCaches, AreChosenFromAndWeightedAsOne) {
  const Cache cache = open();
  Reader some = open_reader(
      cache, {.batch_size = 1, .shuffle = Shuffle::kNone, .ids = {"b/clip-100", "a/clip-139"}});
  EXPECT_EQ(positions_of_epoch(some), (std::vector<std::uint64_t>{39, 40}));
  Reader named =
      open_reader(cache, {.batch_size = 1, .shuffle = Shuffle::kNone, .where = "dataset == 'b'"});
  EXPECT_EQ(named.sample_count(), 21U);
  Reader alike = open_reader(
      cache, {.batch_size = 10,
              .weights = Weights{.by = WeightBy::kDataset, .temperature = 0.0, .draw_count = 400}});
  const auto positions = positions_of_epoch(alike);
  EXPECT_EQ(std::ranges::count_if(positions, [](auto position) { return position >= 40; }), 200);
}

TEST_F(PublicReaderCaches, WithoutDatasetNamesAreDatasetsOfTheirOwn) {
  const MadeCache one({.clip_count = 30});
  const MadeCache other({.clip_count = 10, .frames_max = 24});
  auto cache = Cache::open(std::vector{one.path(), other.path()});
  ASSERT_TRUE(cache.ok());
  Reader alike = open_reader(
      *cache,
      {.batch_size = 10,
       .weights = Weights{.by = WeightBy::kDataset, .temperature = 0.0, .draw_count = 100}});
  const auto positions = positions_of_epoch(alike);
  EXPECT_EQ(std::ranges::count_if(positions, [](auto position) { return position >= 30; }), 50);
  // Both caches have a clip of this name.
  const auto found = cache->find("clip-103");
  ASSERT_EQ(found.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(found.status().message(), HasSubstr(other.path()));
}

TEST_F(PublicReaderCaches, ThatDoNotGoTogetherAreRefusedInWords) {
  const MadeCache longer({.clip_count = 5, .frames_max = 30});
  const auto shapes = Cache::open(std::vector{first_.path(), longer.path()});
  ASSERT_EQ(shapes.status().code(), StatusCode::kMismatch);
  EXPECT_THAT(shapes.status().message(), HasSubstr(longer.path()));
  EXPECT_THAT(shapes.status().message(), HasSubstr("shape"));
  EXPECT_EQ(Cache::open(std::vector<std::string>()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Cache::open(std::vector<std::string>{first_.path(), "/nowhere"}).status().code(),
            StatusCode::kNotFound);
}

TEST_F(PublicReaderCaches, OpenByTheirNamesInBraces) {
  // Two words in braces must not be taken for one string's begin and end.
  EXPECT_EQ(Cache::open({"/nowhere/a", "/nowhere/b"}).status().code(), StatusCode::kNotFound);
  const auto cache = Cache::open({first_.path(), second_.path()});
  ASSERT_TRUE(cache.ok());
  EXPECT_EQ(cache->size(), 61U);
}

// A language's or data set's number has 16 bits.
TEST_F(PublicReaderCaches, WithMoreNamesThanNumbersAreRefusedInWords) {
  const auto with_names = [](const std::string& prefix, bool are_languages) {
    return MadeCache({.clip_count = 2, .edit_manifest = [=](formats::Manifest& manifest) {
                        auto& names = are_languages ? manifest.languages : manifest.datasets;
                        names.clear();
                        for (int i = 0; i < (are_languages ? 20'000 : 40'000); ++i) {
                          names.push_back(prefix + std::to_string(i));
                        }
                      }});
  };
  for (const bool are_languages : {true, false}) {
    const MadeCache one = with_names("a", are_languages);
    const MadeCache other = with_names("b", are_languages);
    const auto cache = Cache::open(std::vector{one.path(), other.path()});
    ASSERT_EQ(cache.status().code(), StatusCode::kUnsupported);
    EXPECT_THAT(cache.status().message(), HasSubstr(are_languages ? "languages" : "data sets"));
  }
}

TEST_F(PublicReaderCaches, ThatNumberWhatTheyDoNotNameAreNotWeighed) {
  const MadeCache cache({.edit_plan_row = [](std::uint32_t position, formats::PlanRow& row) {
    if (position == 3) row.language = -7;
    if (position == 4) row.speaker = INT32_MAX;
  }});
  const Cache opened = cache.open();
  for (const WeightBy by : {WeightBy::kLanguage, WeightBy::kSpeaker}) {
    EXPECT_EQ(Reader::open(opened, {.batch_size = 1, .weights = Weights{.by = by}}).status().code(),
              StatusCode::kCorrupt);
  }
}

TEST_F(PublicReaderCaches, InAnotherOrderRefuseTheState) {
  const Cache cache = open();
  const ReaderState state = open_reader(cache, {.batch_size = 4}).state();
  auto turned = Cache::open(std::vector{second_.path(), first_.path()});
  ASSERT_TRUE(turned.ok());
  Reader reader = open_reader(*turned, {.batch_size = 4});
  EXPECT_EQ(reader.load_state(state).code(), StatusCode::kMismatch);
  Reader same = open_reader(open(), {.batch_size = 4});
  EXPECT_TRUE(same.load_state(state).ok());
}

}  // namespace
}  // namespace xtts
