// How often noise seems rhythmic, and which rhythms are found:
// tests/property/cycle_property_test.cpp.
#include "base/cycle_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

namespace xtts {
namespace {

std::vector<double> with_noise(std::size_t count, const auto& value_at) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> noise(-0.05, 0.05);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(value_at(static_cast<double>(i)) + noise(random));
  return values;
}

double stall_at_each(std::size_t period, double i) {
  return static_cast<std::size_t>(i) % period == period - 1 ? 9.0 : 1.0;
}

TEST(SearchCycle, FindsTheQueueThatRunsDryEverySoManyBatches) {
  for (const std::size_t period : {2U, 3U, 5U, 16U, 24U}) {
    const auto ms = with_noise(120, [&](double i) { return stall_at_each(period, i); });
    const auto cycle = search_cycle(ms);
    ASSERT_TRUE(cycle) << period;
    EXPECT_EQ(cycle->period, static_cast<double>(period));
    EXPECT_GT(cycle->strength, 0.9);
    EXPECT_LE(cycle->strength, 1.0);
  }
}

TEST(SearchCycle, FindsStallsWithoutAnyNoise) {
  for (const std::size_t period : {2U, 5U, 16U, 24U}) {
    std::vector<double> ms;
    for (std::size_t i = 0; i < 120; ++i)
      ms.push_back(stall_at_each(period, static_cast<double>(i)));
    const auto cycle = search_cycle(ms);
    ASSERT_TRUE(cycle) << period;
    EXPECT_EQ(cycle->period, static_cast<double>(period));
  }
}

TEST(SearchCycle, FindsWavesOfAnyLength) {
  for (const double period : {2.5, 7.3, 12.6, 20.0, 45.0}) {
    const auto ms = with_noise(
        200, [&](double i) { return 2.0 + std::sin(2.0 * std::numbers::pi * i / period); });
    const auto cycle = search_cycle(ms);
    ASSERT_TRUE(cycle) << period;
    EXPECT_NEAR(cycle->period, period, 0.02 * period);
  }
}

TEST(SearchCycle, FindsStallsAtAPeriodThatIsNotWhole) {
  std::vector<double> ms = with_noise(200, [](double) { return 1.0; });
  for (double at = 3.0; at < 200.0; at += 7.5) ms[static_cast<std::size_t>(at)] += 9.0;
  const auto cycle = search_cycle(ms);
  ASSERT_TRUE(cycle);
  EXPECT_NEAR(cycle->period, 7.5, 0.05);
}

TEST(SearchCycle, TakesTheShortestPeriodWhereAMultipleOfItIsALittleStronger) {
  const auto ms = with_noise(120, [](double i) {
    const auto step = static_cast<std::size_t>(i);
    if (step % 5 < 4) return 1.0;
    return step % 10 < 5 ? 9.0 : 13.0;
  });
  const auto cycle = search_cycle(ms);
  ASSERT_TRUE(cycle);
  EXPECT_EQ(cycle->period, 5.0);
}

TEST(SearchCycle, EvenTimesAndFewTimesHaveNone) {
  EXPECT_FALSE(search_cycle({}));
  EXPECT_FALSE(search_cycle(with_noise(400, [](double) { return 5.0; })));
  EXPECT_FALSE(search_cycle(std::vector<double>(400, 1.0)));
  EXPECT_FALSE(search_cycle(std::vector<double>(400, 0.0)));
  EXPECT_FALSE(search_cycle(std::vector<double>{1, 9, 1, 9}));
}

TEST(SearchCycle, ASingleStallAndASlowDriftHaveNone) {
  std::vector<double> one(200, 1.0);
  one[77] = 500.0;
  EXPECT_FALSE(search_cycle(one));
  EXPECT_FALSE(search_cycle(with_noise(200, [](double i) { return 1.0 + i / 20.0; })));
  EXPECT_FALSE(search_cycle(with_noise(200, [](double i) { return i < 90.0 ? 1.0 : 4.0; })));
}

TEST(SearchCycle, OddValuesAreNoFailure) {
  const auto stalls = [](double i) { return stall_at_each(10, i); };
  std::vector<double> ms = with_noise(100, stalls);
  ms[4] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(search_cycle(ms));
  ms[4] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(search_cycle(ms));
  ms[4] = 1e308;
  EXPECT_FALSE(search_cycle(ms));
  std::vector<double> tiny = with_noise(100, stalls);
  for (double& one : tiny) one *= 1e-200;
  (void)search_cycle(tiny);
  const auto longest = search_cycle(with_noise(20'000, stalls));
  ASSERT_TRUE(longest);
  EXPECT_EQ(longest->period, 10.0);
}

TEST(SearchCycle, IsTheSameEachTime) {
  const auto ms = with_noise(150, [](double i) { return 2.0 + std::sin(i / 2.0); });
  const auto first = search_cycle(ms);
  const auto second = search_cycle(ms);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->period, second->period);
  EXPECT_EQ(first->strength, second->strength);
}

}  // namespace
}  // namespace xtts
