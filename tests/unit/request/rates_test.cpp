#include <gtest/gtest.h>

#include "request/build_rates.hpp"
#include "request/verify_rates.hpp"

namespace xtts::request {
namespace {

using std::chrono::seconds;

TEST(BuildRates, CountFromWhereAnInterruptedBuildHadStopped) {
  BuildRates rates;
  rates.update(seconds(100), {.done_count = 5000, .total_count = 6000});
  EXPECT_EQ(rates.shown().clips_per_s, 0.0);
  EXPECT_FALSE(rates.shown().seconds_left.has_value());
  rates.update(seconds(101), {.done_count = 5010,
                              .total_count = 6000,
                              .reject_count = 1,
                              .source_bytes = 2000,
                              .sound_seconds = 30.0});
  const BuildProgress shown = rates.shown();
  EXPECT_EQ(shown.done_count, 5010U);
  EXPECT_EQ(shown.total_count, 6000U);
  EXPECT_EQ(shown.reject_count, 1U);
  EXPECT_NEAR(shown.clips_per_s, 10.0, 1e-9);
  EXPECT_NEAR(shown.realtime_factor, 30.0, 1e-9);
  EXPECT_NEAR(shown.bytes_per_s, 2000.0, 1e-6);
  ASSERT_TRUE(shown.seconds_left.has_value());
  EXPECT_NEAR(*shown.seconds_left, 99.0, 1e-6);
}

TEST(VerifyRates, BeginWithTheFirstOfTheirStage) {
  VerifyRates rates(VerifyStage::kRepair);
  EXPECT_EQ(rates.update(seconds(50), 0, 8).stage, VerifyStage::kRepair);
  const VerifyProgress shown = rates.update(seconds(52), 2, 8);
  EXPECT_EQ(shown.done, 2U);
  EXPECT_EQ(shown.total, 8U);
  EXPECT_NEAR(shown.per_second, 1.0, 1e-9);
  EXPECT_NEAR(shown.seconds_left.value_or(0.0), 6.0, 1e-6);
}

}  // namespace
}  // namespace xtts::request
