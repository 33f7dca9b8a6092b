#include "report/progress_meter.hpp"

#include <gtest/gtest.h>

namespace xtts::report {
namespace {

using std::chrono::seconds;

TEST(ProgressMeter, CountsFromWhereAnInterruptedBuildHadStopped) {
  ProgressMeter meter;
  meter.update(seconds(100), {.done = 5000, .total = 6000});
  EXPECT_EQ(meter.shown().per_second, 0.0);
  EXPECT_FALSE(meter.shown().seconds_left.has_value());
  meter.update(seconds(101),
               {.done = 5010, .total = 6000, .rejects = 1, .sound_seconds = 30.0, .bytes = 2000});
  const Progress shown = meter.shown();
  EXPECT_EQ(shown.done, 5010U);
  EXPECT_EQ(shown.total, 6000U);
  EXPECT_EQ(shown.rejects, 1U);
  EXPECT_NEAR(shown.per_second, 10.0, 1e-9);
  EXPECT_NEAR(shown.realtime_factor, 30.0, 1e-9);
  EXPECT_NEAR(shown.bytes_per_s, 2000.0, 1e-6);
  ASSERT_TRUE(shown.seconds_left.has_value());
  EXPECT_NEAR(*shown.seconds_left, 99.0, 1e-6);
}

TEST(ProgressMeter, BeginsWithTheFirstCountOfItsWork) {
  ProgressMeter meter;
  meter.update(seconds(50), {.done = 0, .total = 8});
  meter.update(seconds(52), {.done = 2, .total = 8});
  const Progress shown = meter.shown();
  EXPECT_NEAR(shown.per_second, 1.0, 1e-9);
  EXPECT_NEAR(shown.seconds_left.value_or(0.0), 6.0, 1e-6);
}

// Threads report in any order: the figures stay those of the most that was done.
TEST(ProgressMeter, BearsCountsThatFall) {
  ProgressMeter meter;
  meter.update(seconds(0), {.done = 1, .total = 8});
  meter.update(seconds(1), {.done = 3, .total = 8});
  meter.update(seconds(2), {.done = 0, .total = 8});
  EXPECT_NEAR(meter.shown().per_second, 2.0, 1e-9);
}

}  // namespace
}  // namespace xtts::report
