#include "loader/interval_stats.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace xtts::loader {
namespace {

using std::chrono::milliseconds;

void tick_at(IntervalStats& stats, const std::vector<int>& times_ms) {
  for (const int ms : times_ms) stats.tick(IntervalStats::TimePoint(milliseconds(ms)));
}

TEST(IntervalStats, TellsMeanDeviationAndPercentiles) {
  IntervalStats stats;
  tick_at(stats, {0, 10, 30, 60, 100});  // intervals 10, 20, 30, 40
  EXPECT_EQ(stats.count(), 4U);
  EXPECT_DOUBLE_EQ(stats.mean_ms(), 25.0);
  EXPECT_NEAR(stats.std_ms(), 11.1803, 1e-4);
  EXPECT_DOUBLE_EQ(stats.percentile_ms(0.5), 20.0);
  EXPECT_DOUBLE_EQ(stats.percentile_ms(0.75), 30.0);
  EXPECT_DOUBLE_EQ(stats.percentile_ms(0.99), 40.0);
}

TEST(IntervalStats, WhatLiesBetweenEpochsIsNoInterval) {
  IntervalStats stats;
  tick_at(stats, {0, 10});
  stats.forget_last();
  tick_at(stats, {1000, 1010});
  EXPECT_EQ(stats.count(), 2U);
  EXPECT_DOUBLE_EQ(stats.mean_ms(), 10.0);
}

TEST(IntervalStats, HasNothingToSayBeforeTheSecondTick) {
  IntervalStats stats;
  EXPECT_EQ(stats.percentile_ms(0.5), 0.0);
  tick_at(stats, {5});
  EXPECT_EQ(stats.count(), 0U);
  EXPECT_EQ(stats.mean_ms(), 0.0);
  EXPECT_EQ(stats.std_ms(), 0.0);
}

TEST(IntervalStats, PercentilesForgetWhatIsLongAgo) {
  IntervalStats stats;
  int now_ms = 0;
  tick_at(stats, {now_ms});
  for (int i = 0; i < 10'000; ++i) tick_at(stats, {now_ms += i < 1000 ? 100 : 1});
  EXPECT_DOUBLE_EQ(stats.percentile_ms(1.0), 1.0);
  EXPECT_EQ(stats.count(), 10'000U);
}

}  // namespace
}  // namespace xtts::loader
