#include "loader/epoch_sequence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "reader/cache_set.hpp"
#include "support/test_cache.hpp"

namespace xtts::loader {
namespace {

class EpochSequenceTest : public ::testing::Test {
 protected:
  EpochSequenceTest() {
    testing::make_test_cache({.clip_count = 60, .speaker_count = 4}).add_to(env_, "/cache");
    const std::string path = "/cache";
    auto opened = reader::CacheSet::open(env_, std::span(&path, 1));
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    cache_ = *opened;
    auto selection = Selection::choose(*cache_, {});
    EXPECT_TRUE(selection.ok());
    selection_ = *selection;
  }

  [[nodiscard]] SampleGroups groups(const Weights& weights) {
    auto made = group_samples(*cache_, selection_, weights);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return *made;
  }
  [[nodiscard]] std::vector<std::uint64_t> epoch(const SampleGroups& groups, std::uint64_t number) {
    const EpochSequence sequence(selection_, &groups,
                                 {.sample_count = groups.draw_count,
                                  .shuffle = Shuffle::kGlobal,
                                  .seed = 7,
                                  .epoch = number});
    std::vector<std::uint64_t> positions;
    for (std::uint64_t place = 0; place < groups.draw_count; ++place) {
      positions.push_back(sequence.position_at(place));
    }
    return positions;
  }
  [[nodiscard]] std::int32_t speaker(std::uint64_t position) {
    const auto row = cache_->plan_row(position);
    EXPECT_TRUE(row.ok());
    return row->speaker;
  }

  testing::MemoryEnv env_;
  std::shared_ptr<reader::CacheSet> cache_;
  Selection selection_;
};

TEST_F(EpochSequenceTest, WithoutGroupsIsTheSelectionInTheEpochsOrder) {
  const EpochOrderOptions options{
      .sample_count = 60, .shuffle = Shuffle::kGlobal, .seed = 3, .epoch = 2};
  const EpochSequence sequence(selection_, nullptr, options);
  const EpochOrder order(options);
  for (std::uint64_t place = 0; place < 60; ++place) {
    EXPECT_EQ(sequence.position_at(place), order.sample_at(place));
  }
}

TEST_F(EpochSequenceTest, GroupsAreTheSpeakersOfThePlan) {
  const SampleGroups by_speaker = groups({.by = WeightBy::kSpeaker});
  std::uint64_t total = 0;
  for (std::size_t group = 0; group < by_speaker.samples.size(); ++group) {
    for (const std::uint64_t sample : by_speaker.samples[group]) {
      EXPECT_EQ(speaker(sample) + 1, static_cast<std::int32_t>(group));
    }
    total += by_speaker.counts[group];
  }
  EXPECT_EQ(total, 60U);
  EXPECT_EQ(by_speaker.draw_count, 60U);
}

TEST_F(EpochSequenceTest, TemperatureOneGivesEveryClipOnceAndZeroAllGroupsAlike) {
  const auto as_it_is = epoch(groups({.by = WeightBy::kSpeaker, .temperature = 1.0}), 0);
  EXPECT_EQ(std::set<std::uint64_t>(as_it_is.begin(), as_it_is.end()).size(), 60U);

  const SampleGroups alike =
      groups({.by = WeightBy::kSpeaker, .temperature = 0.0, .draw_count = 300});
  std::map<std::int32_t, std::uint64_t> counts;
  for (const std::uint64_t position : epoch(alike, 0)) ++counts[speaker(position)];
  ASSERT_GT(counts.size(), 1U);
  const auto [least, most] =
      std::ranges::minmax_element(counts, {}, [](const auto& entry) { return entry.second; });
  EXPECT_LE(most->second - least->second, 1U);
}

TEST_F(EpochSequenceTest, EpochsOfFewDrawsGoThroughAllClips) {
  const SampleGroups few = groups({.by = WeightBy::kSpeaker, .draw_count = 20});
  std::set<std::uint64_t> seen;
  for (std::uint64_t number = 0; number < 6; ++number) {
    for (const std::uint64_t position : epoch(few, number)) seen.insert(position);
  }
  EXPECT_EQ(seen.size(), 60U);
}

TEST_F(EpochSequenceTest, RefusesATemperatureThatIsNone) {
  for (const double temperature : {-0.1, 17.0, std::numeric_limits<double>::quiet_NaN()}) {
    const auto made =
        group_samples(*cache_, selection_, {.by = WeightBy::kSpeaker, .temperature = temperature});
    EXPECT_EQ(made.status().code(), StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace xtts::loader
