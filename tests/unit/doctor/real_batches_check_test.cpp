#include "doctor/real_batches_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::doctor {
namespace {

using ::testing::HasSubstr;

ComputeRates rates(std::vector<double> all) {
  return {.way = "this program", .worker_count = 2, .one = all, .all = all};
}

CacheMeasurement cache_of(std::vector<double> clips_per_s, std::vector<double> batch_ms) {
  CacheMeasurement cache;
  cache.clips_per_s = std::move(clips_per_s);
  cache.batch_ms = std::move(batch_ms);
  return cache;
}

TEST(RealBatchesCheck, TellsWhatABatchTakesEachWay) {
  const ComputeRates ours = rates({100.0});
  const CacheMeasurement cache = cache_of({10'000.0}, {3.2, 3.2});
  const Check check =
      check_real_batches({.batch_size = 32, .step_ms = 50.0, .ours = &ours, .cache = &cache});
  EXPECT_EQ(check.status, CheckStatus::kPass);
  EXPECT_EQ(check.summary,
            "A batch of 32 from a cache takes 3.20 ms. Computed on the fly it takes 320 ms.");
  ASSERT_EQ(check.evidence.size(), 3U);
  EXPECT_EQ(check.evidence[0].number, 320.0);
  EXPECT_EQ(check.evidence[1].number, 3.2);
  EXPECT_EQ(check.evidence[2].number, 0.0);
  EXPECT_EQ(check.charts.size(), 3U);
}

TEST(RealBatchesCheck, ComparesWithTheTrainersOwnWayWhereItWasMeasured) {
  const LibrosaRates librosa{.rates = rates({50.0})};
  const ComputeRates ours = rates({100.0});
  const CacheMeasurement cache = cache_of({75.0}, {});
  const Check check =
      check_real_batches({.batch_size = 30, .librosa = &librosa, .ours = &ours, .cache = &cache});
  EXPECT_EQ(check.status, CheckStatus::kPass);
  EXPECT_THAT(check.summary, HasSubstr("Computed on the fly it takes 600 ms."));
}

TEST(RealBatchesCheck, FailsWhereACacheSavesNothing) {
  const ComputeRates ours = rates({100.0});
  const CacheMeasurement cache = cache_of({90.0}, {});
  const Check check = check_real_batches({.ours = &ours, .cache = &cache});
  EXPECT_EQ(check.status, CheckStatus::kFail);
  ASSERT_EQ(check.findings.size(), 1U);
  EXPECT_THAT(check.findings[0].text, HasSubstr("no less time than one computed on the fly"));
}

TEST(RealBatchesCheck, WarnsOfBatchesThatAreUnevenBesideAStep) {
  const CacheMeasurement cache = cache_of({1000.0}, {1.0, 90.0, 1.0, 90.0, 1.0, 90.0});
  EXPECT_EQ(check_real_batches({.step_ms = 100.0, .cache = &cache}).status, CheckStatus::kWarn);
  EXPECT_EQ(check_real_batches({.step_ms = 100'000.0, .cache = &cache}).status, CheckStatus::kPass);
}

TEST(RealBatchesCheck, CannotTellWithoutACacheAndSaysWhy) {
  const ComputeRates ours = rates({100.0});
  const Check check = check_real_batches({.ours = &ours, .no_cache = "The disk is full"});
  EXPECT_EQ(check.status, CheckStatus::kCannotTell);
  EXPECT_EQ(check.summary, "The disk is full.");
  EXPECT_EQ(check_real_batches({.ours = &ours}).summary, "No batch came from a cache.");
}

TEST(RealBatchesCheck, KeepsItsWarningWithoutACache) {
  LibrosaRates librosa{.rates = rates({100.0, 125.0})};
  librosa.single_threaded = {200.0, 250.0};
  librosa.setting = "OPENBLAS_NUM_THREADS=1";
  EXPECT_EQ(check_real_batches({.librosa = &librosa}).status, CheckStatus::kWarn);
}

}  // namespace
}  // namespace xtts::doctor
