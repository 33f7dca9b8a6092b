#include "loader/weighted_draws.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "loader/bijection.hpp"

namespace xtts::loader {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Counts = std::vector<std::uint64_t>;
using ClipWeights = std::vector<double>;

Counts shares(const Counts& counts, const ClipWeights& weights, std::uint64_t draw_count) {
  const auto result = share_draws(counts, weights, draw_count);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : Counts();
}

std::string refusal_of(const Counts& counts, const ClipWeights& weights,
                       std::uint64_t draw_count = 10) {
  const auto result =
      WeightedDraws::make({.sample_counts = counts, .weights = weights, .draw_count = draw_count});
  if (result.ok()) return "not refused";
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  return result.status().message();
}

// The samples that each group gives, in the order of its draws.
std::vector<Counts> drawn(const Counts& counts, const ClipWeights& weights,
                          std::uint64_t draw_count, std::uint64_t epoch = 0) {
  const auto draws = WeightedDraws::make({.sample_counts = counts,
                                          .weights = weights,
                                          .draw_count = draw_count,
                                          .seed = 42,
                                          .epoch = epoch});
  EXPECT_TRUE(draws.ok()) << draws.status().message();
  std::vector<Counts> groups(counts.size());
  std::uint64_t group = 0;
  for (std::uint64_t i = 0; i < draw_count; ++i) {
    const Draw draw = draws->draw(i);
    EXPECT_GE(draw.group, group) << "groups do not ascend";
    group = draw.group;
    EXPECT_LT(draw.index, counts.at(group));
    groups.at(group).push_back(draw.index);
  }
  return groups;
}

TEST(ShareDraws, TakesWeightsOfAnySize) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_THAT(shares({9, 9, 9, 9}, {most, most, most, most}, 8), ElementsAre(2, 2, 2, 2));
}

TEST(ShareDraws, AddsUpWithinOneOfTheTrueShare) {
  Counts counts;
  ClipWeights weights;
  double sum = 0.0;
  for (std::uint64_t g = 0; g < 3000; ++g) {
    counts.push_back(1 + mix(g) % 1000);
    weights.push_back(static_cast<double>(mix(g + 7) >> 40U) * 0x1p-24);
    sum += weights.back();
  }
  for (const std::uint64_t draw_count : {std::uint64_t{1}, std::uint64_t{2999}, kOrderSizeMax}) {
    const Counts result = shares(counts, weights, draw_count);
    ASSERT_EQ(std::accumulate(result.begin(), result.end(), std::uint64_t{0}), draw_count);
    for (std::size_t g = 0; g < counts.size(); ++g) {
      const double share = static_cast<double>(draw_count) * weights[g] / sum;
      ASSERT_NEAR(static_cast<double>(result[g]), share, 1.0 + share * 1e-12) << "group " << g;
    }
  }
}

TEST(WeightedDraws, GoesThroughAGroupBeforeAnySampleComesAgain) {
  const Counts counts = {4, 0, 10, 1, 33};
  const auto groups = drawn(counts, {1.0, 1.0, 1.0, 1.0, 1.0}, 200);
  EXPECT_TRUE(groups[1].empty());
  for (const std::size_t g : {0U, 2U, 3U, 4U}) {
    ASSERT_EQ(groups[g].size(), 50U);
    for (std::size_t begin = 0; begin < 50; begin += counts[g]) {
      const std::size_t end = std::min<std::size_t>(begin + counts[g], 50);
      const std::set<std::uint64_t> pass(groups[g].begin() + static_cast<std::ptrdiff_t>(begin),
                                         groups[g].begin() + static_cast<std::ptrdiff_t>(end));
      EXPECT_EQ(pass.size(), end - begin) << "group " << g << ", from draw " << begin;
    }
  }
}

TEST(WeightedDraws, GoOnWhereTheEpochBeforeEnded) {
  Counts all;
  for (std::uint64_t epoch = 0; epoch < 10; ++epoch) {
    const auto groups = drawn({1000, 20}, {1.0, 1.0}, 8, epoch);  // each group has four draws
    all.insert(all.end(), groups[1].begin(), groups[1].end());
  }
  ASSERT_EQ(all.size(), 40U);
  EXPECT_EQ(std::set<std::uint64_t>(all.begin(), all.begin() + 20).size(), 20U);
  EXPECT_EQ(std::set<std::uint64_t>(all.begin() + 20, all.end()).size(), 20U);
}

TEST(WeightedDraws, GivesEverySampleOnceWhenWeightsAreThoseOfTheCorpus) {
  const Counts counts = {7, 1, 30, 0, 12};
  const auto groups = drawn(counts, temperature_weights(counts, 1.0), 50);
  for (std::size_t g = 0; g < counts.size(); ++g) {
    Counts samples = groups[g];
    std::ranges::sort(samples);
    Counts all(counts[g]);
    std::iota(all.begin(), all.end(), std::uint64_t{0});
    EXPECT_EQ(samples, all) << "group " << g;
  }
}

TEST(WeightedDraws, HoldsUpToItsLargestSize) {
  const Counts counts = {1, kOrderSizeMax};
  const ClipWeights weights = {1.0, 1.0};
  const auto draws = WeightedDraws::make(
      {.sample_counts = counts, .weights = weights, .draw_count = kOrderSizeMax});
  ASSERT_TRUE(draws.ok()) << draws.status().message();
  EXPECT_EQ(draws->draw_count(), kOrderSizeMax);
  EXPECT_EQ(draws->draw(kOrderSizeMax / 2 - 1), (Draw{.group = 0, .index = 0}));
  EXPECT_EQ(draws->draw(kOrderSizeMax / 2).group, 1U);
  EXPECT_EQ(draws->draw(kOrderSizeMax - 1).group, 1U);
}

TEST(WeightedDraws, RefusesWhatCannotBeShared) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_THAT(refusal_of({1, 1}, {1.0}), HasSubstr("1 weights for 2 groups"));
  EXPECT_THAT(refusal_of({1, 1}, {1.0, -1.0}), HasSubstr("group 1"));
  EXPECT_THAT(refusal_of({1, 1}, {infinite, 1.0}), HasSubstr("group 0"));
  EXPECT_THAT(refusal_of({1, 1}, {1.0, std::nan("")}), HasSubstr("group 1"));
  EXPECT_THAT(refusal_of({1, 1}, {0.0, 0.0}), HasSubstr("above 0"));
  EXPECT_THAT(refusal_of({0, 1}, {1.0, 0.0}), HasSubstr("above 0"));
  EXPECT_THAT(refusal_of({}, {}), HasSubstr("above 0"));
  EXPECT_THAT(refusal_of({1}, {1.0}, kOrderSizeMax + 1), HasSubstr("too many"));
  EXPECT_THAT(refusal_of({kOrderSizeMax + 1}, {1.0}), HasSubstr("too many"));
}

TEST(TemperatureWeights, LieBetweenTheCorpusAndAllAlike) {
  const Counts counts = {100, 0, 10'000};
  EXPECT_THAT(temperature_weights(counts, 1.0), ElementsAre(100.0, 0.0, 10'000.0));
  EXPECT_THAT(temperature_weights(counts, 0.0), ElementsAre(1.0, 0.0, 1.0));
  EXPECT_THAT(temperature_weights(counts, 0.5), ElementsAre(10.0, 0.0, 100.0));
}

TEST(TemperatureWeights, HaveTwentyFourBitsWhereTheyArePowers) {
  const Counts counts = {3, 12'345, 987'654'321};
  const ClipWeights weights = temperature_weights(counts, 0.3);
  for (std::size_t g = 0; g < counts.size(); ++g) {
    EXPECT_EQ(weights[g], static_cast<double>(static_cast<float>(weights[g])));
    EXPECT_NEAR(weights[g] / std::pow(static_cast<double>(counts[g]), 0.3), 1.0, 6e-8);
  }
}

}  // namespace
}  // namespace xtts::loader
