#include "doctor/on_the_fly.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::doctor {
namespace {

LibrosaRates eight_workers(std::vector<double> all, std::vector<double> single_threaded) {
  LibrosaRates librosa;
  librosa.rates.worker_count = 8;
  librosa.rates.all = std::move(all);
  librosa.single_threaded = std::move(single_threaded);
  librosa.setting = "OPENBLAS_NUM_THREADS=1";
  return librosa;
}

TEST(JudgeOwnThreads, TellsHowMuchTheyCost) {
  const auto finding = judge_own_threads(eight_workers({100.0, 125.0}, {200.0, 250.0}));
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->status, CheckStatus::kWarn);
  EXPECT_THAT(finding->text, ::testing::HasSubstr("8 workers compute 1.6 to 2.5 times"));
  EXPECT_THAT(finding->remedy, ::testing::HasSubstr("set OPENBLAS_NUM_THREADS=1 before"));
}

TEST(JudgeOwnThreads, SaysNothingWhereTheRoundsOverlapAlmost) {
  EXPECT_FALSE(judge_own_threads(eight_workers({100.0, 125.0}, {140.0, 250.0})).has_value());
}

TEST(JudgeOwnThreads, SaysNothingWithoutAMeasurement) {
  EXPECT_FALSE(judge_own_threads(eight_workers({100.0}, {})).has_value());
  EXPECT_FALSE(judge_own_threads(eight_workers({}, {100.0})).has_value());
}

}  // namespace
}  // namespace xtts::doctor
