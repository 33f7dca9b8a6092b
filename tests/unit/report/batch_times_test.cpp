#include "report/batch_times.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace xtts::report {
namespace {

TEST(BatchTimes, FiguresAreThoseOfTheDefinition) {
  const std::vector<double> ms = {4, 1, 3, 2};
  const BatchTimes times = summarize_times(ms);
  EXPECT_EQ(times.count, 4U);
  EXPECT_DOUBLE_EQ(times.mean_ms, 2.5);
  EXPECT_NEAR(times.std_ms, 1.1180, 1e-4);
  EXPECT_NEAR(times.variation(), 0.4472, 1e-4);
  EXPECT_EQ(times.p50_ms, 2.0);
  EXPECT_EQ(times.p95_ms, 4.0);
  EXPECT_EQ(times.p99_ms, 4.0);
  EXPECT_FALSE(times.cycle);
}

// Batches that differ sevenfold, once of 0.1 ms and once of 100.
TEST(BatchTimes, AreUnevenAgainstAStep) {
  std::vector<double> ms(40, 0.04);
  ms[7] = ms[30] = 1.2;
  const BatchTimes fast = summarize_times(ms);
  EXPECT_GT(fast.variation(), 2.0);
  EXPECT_LT(step_variation(fast), 0.01);
  EXPECT_EQ(evenness(step_variation(fast)), "stable");
  for (double& one : ms) one *= 1000.0;
  const BatchTimes slow = summarize_times(ms);
  EXPECT_NEAR(slow.variation(), fast.variation(), 1e-9);
  EXPECT_EQ(evenness(step_variation(slow)), "oscillating");
  EXPECT_EQ(evenness(0.2), "acceptable");
  EXPECT_EQ(evenness(0.5), "acceptable");
  EXPECT_EQ(step_variation(summarize_times({}), 0.0), 0.0);
}

TEST(BatchTimes, NoBatchesHaveNoFigures) {
  const BatchTimes times = summarize_times({});
  EXPECT_EQ(times.count, 0U);
  EXPECT_EQ(times.variation(), 0.0);
}

TEST(BatchTimes, KnowTheirRhythm) {
  std::vector<double> ms;
  for (int i = 0; i < 100; ++i) ms.push_back(i % 10 == 3 ? 190.0 : 40.0);
  const BatchTimes times = summarize_times(ms);
  ASSERT_TRUE(times.cycle);
  EXPECT_EQ(times.cycle->period, 10.0);
}

}  // namespace
}  // namespace xtts::report
