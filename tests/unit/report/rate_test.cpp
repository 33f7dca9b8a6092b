#include "report/rate.hpp"

#include <gtest/gtest.h>

namespace xtts::report {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RateEstimator, KnowsNothingBeforeWorkWasDone) {
  const RateEstimator rate(seconds(100));
  EXPECT_EQ(rate.per_second(), 0.0);
  EXPECT_FALSE(rate.seconds_left(10.0).has_value());
}

TEST(RateEstimator, IsExactForSteadyWorkFromTheFirstUpdate) {
  RateEstimator rate(seconds(100));
  for (int i = 1; i <= 600; ++i) {
    rate.update(seconds(100) + milliseconds(100 * i), 5.0 * i);
    ASSERT_NEAR(rate.per_second(), 50.0, 1e-9);
  }
  EXPECT_NEAR(*rate.seconds_left(6000.0), 60.0, 1e-9);
}

TEST(RateEstimator, GivesTheSameForFewAndForManyUpdates) {
  RateEstimator few(seconds(0));
  RateEstimator many(seconds(0));
  few.update(seconds(8), 80.0);
  few.update(seconds(20), 680.0);
  for (int i = 1; i <= 80; ++i) many.update(milliseconds(100 * i), 1.0 * i);
  for (int i = 1; i <= 1200; ++i) many.update(seconds(8) + milliseconds(10 * i), 80.0 + 0.5 * i);
  EXPECT_NEAR(few.per_second(), many.per_second(), 1e-6);
}

TEST(RateEstimator, FollowsAChangeOfSpeedWithinAFewWindows) {
  RateEstimator rate(seconds(0), seconds(10));
  rate.update(seconds(100), 1000.0);
  rate.update(seconds(130), 1000.0 + 30.0 * 100.0);
  EXPECT_GT(rate.per_second(), 90.0);
  EXPECT_LT(rate.per_second(), 100.0);
}

TEST(RateEstimator, IgnoresMomentsThatGoBack) {
  RateEstimator rate(seconds(10));
  rate.update(seconds(20), 100.0);
  rate.update(seconds(15), 200.0);
  rate.update(seconds(30), 50.0);
  EXPECT_NEAR(rate.per_second(), 10.0, 1e-9);
}

TEST(RateEstimator, HasNothingLeftWhenAllIsDone) {
  RateEstimator rate(seconds(0));
  rate.update(seconds(1), 10.0);
  EXPECT_EQ(*rate.seconds_left(10.0), 0.0);
}

}  // namespace
}  // namespace xtts::report
