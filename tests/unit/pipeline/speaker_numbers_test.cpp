#include "pipeline/speaker_numbers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build_support.hpp"
#include "pipeline/name_table.hpp"

namespace xtts::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::vector<std::string>;

constexpr std::uint32_t kSpeakers = 3;

// A cache of clips whose names, clip-0000 to clip-0002, are also their speakers.
struct Speakers {
  MemoryEnv env;
  pipeline::BuildRequest request =
      request_for(recipe_of_small_shards({"corpus.speaker_pattern=(clip-[0-9]*)"}));
  Names notices;  // of the last build

  explicit Speakers(Names known = {}) {
    request.known_speakers = std::move(known);
    add_listed_sounds(env, kSpeakers);
  }
  Result<pipeline::BuildReport> build(Names given) {
    request.known_speakers = std::move(given);
    TestObserver observer;
    auto report = pipeline::build(env, request, observer);
    notices = observer.notices();
    return report;
  }
  [[nodiscard]] Names names() { return open_cache(env)->manifest().speakers; }
  [[nodiscard]] std::string speaker_of(std::uint64_t position) {
    const auto view = open_cache(env);
    const auto row = view->plan_row(position);
    return view->manifest().speakers.at(static_cast<std::size_t>(row->speaker));
  }
};

TEST(SpeakerNumbers, AreThoseOfTheFile) {
  Speakers cache;
  ASSERT_TRUE(cache.build({"clip-0002", "zoe b", "clip-0000"}).ok());
  EXPECT_THAT(cache.names(), ElementsAre("clip-0002", "zoe b", "clip-0000", "clip-0001"));
  EXPECT_THAT(cache.notices, ElementsAre("--speakers: 1 name has no clip: 'zoe b'"));
  for (std::uint32_t i = 0; i < kSpeakers; ++i) EXPECT_EQ(cache.speaker_of(i), clip_name(i));
  EXPECT_EQ(damage_in(cache.env), "");
}

TEST(SpeakerNumbers, OfTheCacheMayBeGivenAgain) {
  Speakers cache;
  ASSERT_TRUE(cache.build({}).ok());
  EXPECT_THAT(cache.notices, ElementsAre());
  for (const Names& given : {Names{"clip-0000", "clip-0001", "clip-0002"}, Names{"clip-0000"}}) {
    const auto report = cache.build(given);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_TRUE(report->unchanged);
    EXPECT_THAT(cache.notices, ElementsAre("--speakers: the cache has these numbers already"));
  }
}

TEST(SpeakerNumbers, ANewNameComesBehindThePublishedOnes) {
  Speakers cache;
  ASSERT_TRUE(cache.build({}).ok());
  const auto report = cache.build({"clip-0000", "clip-0001", "clip-0002", "clip-0004"});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_FALSE(report->unchanged);
  EXPECT_EQ(report->computed_count, 0U);
  EXPECT_THAT(cache.notices,
              ElementsAre("--speakers: the cache keeps its numbers, and takes 1 new name; 1 name "
                          "has no clip: 'clip-0004'"));
  add_listed_sounds(cache.env, kSpeakers + 2);
  ASSERT_TRUE(cache.build({}).ok());
  EXPECT_THAT(cache.names(),
              ElementsAre("clip-0000", "clip-0001", "clip-0002", "clip-0004", "clip-0003"));
  for (std::uint32_t i = 0; i < kSpeakers + 2; ++i) EXPECT_EQ(cache.speaker_of(i), clip_name(i));
  EXPECT_EQ(damage_in(cache.env), "");
}

TEST(SpeakerNumbers, ThatThePublishedOnesContradictAreRefused) {
  Speakers cache;
  ASSERT_TRUE(cache.build({}).ok());
  const Files before = files_below(cache.env);
  for (const Names& given : {Names{"clip-0001"}, Names{"clip-0000", "clip-0002", "clip-0001"},
                             Names{"clip-0000", "clip-0001", "new", "clip-0002"}}) {
    const auto refused = cache.build(given);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), StatusCode::kMismatch);
  }
  EXPECT_THAT(cache.build({"clip-0000", "zoe"}).status().message(),
              HasSubstr("number 1 is 'clip-0001' there, and 'zoe' in --speakers"));
  EXPECT_EQ(difference(before, files_below(cache.env)), "");
  cache.request.options.overwrite = true;
  ASSERT_TRUE(cache.build({"clip-0002"}).ok());
  EXPECT_THAT(cache.names(), ElementsAre("clip-0002", "clip-0000", "clip-0001"));
}

TEST(NameTable, NumbersByPlace) {
  const pipeline::NameTable table({"b", "a"}, {"a", "c"});
  EXPECT_THAT(table.names(), ElementsAre("b", "a", "c"));
  for (std::size_t i = 0; i < table.names().size(); ++i)
    EXPECT_EQ(table.number_of(table.names()[i]), static_cast<std::int32_t>(i));
  EXPECT_EQ(table.number_of("d"), -1);
}

}  // namespace
}  // namespace xtts::testing
