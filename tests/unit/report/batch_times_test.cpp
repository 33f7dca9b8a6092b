#include "report/batch_times.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace xtts::report {
namespace {

std::vector<double> with_noise(std::size_t count, const auto& value_at) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> noise(-0.05, 0.05);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(value_at(i) + noise(random));
  return values;
}

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

TEST(BatchTimes, FindsTheQueueThatRunsDryEverySoManyBatches) {
  for (const std::size_t period : {2U, 5U, 16U, 24U}) {
    const auto ms =
        with_noise(120, [&](std::size_t i) { return i % period == period - 1 ? 9.0 : 1.0; });
    const auto cycle = find_cycle(ms);
    ASSERT_TRUE(cycle) << period;
    EXPECT_EQ(cycle->period, period);
    EXPECT_GT(cycle->strength, 0.5);
  }
}

TEST(BatchTimes, FindsASlowWave) {
  const auto ms = with_noise(200, [](std::size_t i) {
    return 2.0 + std::sin(2.0 * 3.14159265358979 * static_cast<double>(i) / 20.0);
  });
  const auto cycle = find_cycle(ms);
  ASSERT_TRUE(cycle);
  EXPECT_NEAR(static_cast<double>(cycle->period), 20.0, 1.0);
}

TEST(BatchTimes, NoiseAndEvenTimesHaveNoRhythm) {
  std::mt19937 random(3);
  std::exponential_distribution<double> times(1.0);
  std::vector<double> ms;
  for (int i = 0; i < 400; ++i) ms.push_back(1.0 + times(random));
  EXPECT_FALSE(find_cycle(ms));
  EXPECT_FALSE(find_cycle(with_noise(400, [](std::size_t) { return 5.0; })));
  EXPECT_FALSE(find_cycle(std::vector<double>(400, 1.0)));
  EXPECT_FALSE(find_cycle(std::vector<double>{1, 9, 1, 9}));  // too few to say
}

}  // namespace
}  // namespace xtts::report
