#include "dsp/loudness.hpp"
#include "formats/condition_config.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace xtts::dsp {
namespace {

using formats::LoudnessConfig;
using formats::LoudnessMethod;

Loudness loudness_of(const std::vector<float>& samples) {
  MemoryReader reader(samples);
  const auto loudness = measure_loudness(reader, 0, samples.size(), samples.size());
  EXPECT_TRUE(loudness.ok());
  return *loudness;
}

TEST(Loudness, FindsThePeakWhereverItIs) {
  for (const std::size_t count : {1U, 3U, 4U, 15U, 16U, 17U, 100U}) {
    for (std::size_t place = 0; place < count; ++place) {
      std::vector<float> samples(count, 0.25F);
      samples[place] = -0.75F;
      EXPECT_EQ(loudness_of(samples).peak, 0.75F) << place << " of " << count;
    }
  }
}

TEST(Loudness, MeasuresTheRmsOfASquareWaveExactly) {
  std::vector<float> samples(1000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = i % 2 == 0 ? 0.5F : -0.5F;
  EXPECT_EQ(loudness_of(samples).rms, 0.5F);
}

TEST(Loudness, ReachesTheTargetRms) {
  const LoudnessConfig config{.method = LoudnessMethod::kRms, .target = 0.1};
  EXPECT_FLOAT_EQ(plan_scaling(config, {.peak = 0.2F, .rms = 0.05F}).gain(), 2.0F);
}

TEST(Loudness, LowersTheGainWhereThePeakWouldPassOne) {
  LoudnessConfig config{.method = LoudnessMethod::kRms, .target = 0.1};
  EXPECT_FLOAT_EQ(plan_scaling(config, {.peak = 0.8F, .rms = 0.05F}).gain(), 1.0F / 0.8F);
  config.limit_peak = false;
  EXPECT_FLOAT_EQ(plan_scaling(config, {.peak = 0.8F, .rms = 0.05F}).gain(), 2.0F);
}

TEST(Loudness, BringsThePeakToTheTarget) {
  const LoudnessConfig config{.method = LoudnessMethod::kPeak, .target = 0.95};
  std::vector<float> samples = {0.1F, -0.4F, 0.3F, 0.2F, 0.0F};
  apply_scaling(plan_scaling(config, loudness_of(samples)), samples);
  EXPECT_EQ(samples[1], -0.95F);
  EXPECT_FLOAT_EQ(samples[4 - 2], 0.7125F);
}

TEST(Loudness, LimitsOnlyWhatIsAboveTheTarget) {
  const LoudnessConfig config{.method = LoudnessMethod::kLimit, .target = 1.0};
  EXPECT_EQ(plan_scaling(config, {.peak = 1.0F, .rms = 0.5F}).gain(), 1.0F);
  EXPECT_EQ(plan_scaling(config, {.peak = 2.0F, .rms = 0.5F}).gain(), 0.5F);
}

TEST(Loudness, ReachesTheTargetOfLufs) {
  LoudnessConfig config{.method = LoudnessMethod::kLufs, .target = -23.0};
  EXPECT_FLOAT_EQ(plan_scaling(config, {.peak = 0.1F, .rms = 0.0F, .lufs = -29.0}).gain(),
                  std::pow(10.0F, 0.3F));
  EXPECT_EQ(plan_scaling(config, {.peak = 0.1F, .rms = 0.0F}).gain(), 1.0F);
  EXPECT_FLOAT_EQ(plan_scaling(config, {.peak = 0.8F, .rms = 0.0F, .lufs = -29.0}).gain(),
                  1.0F / 0.8F);
}

// HiFi-GAN's audio is float64 until its peak is scaled; three roundings would differ.
TEST(Loudness, RoundsOnceWhereTheReferenceDoes) {
  LoudnessConfig config{.method = LoudnessMethod::kPeak, .target = 0.95};
  config.rounding = formats::Rounding::kOnce;
  std::size_t different = 0;
  for (int i = 1; i <= 100; ++i) {
    const float x = static_cast<float>(i) / 32768.0F;
    const float peak = 12345.0F / 32768.0F;
    std::vector<float> once = {x};
    apply_scaling(plan_scaling(config, {.peak = peak, .rms = 0.1F}), once);
    EXPECT_EQ(once[0],
              static_cast<float>(static_cast<double>(x) / static_cast<double>(peak) * 0.95));
    different += once[0] != x / peak * 0.95F ? 1 : 0;
  }
  EXPECT_GT(different, 10U);
}

TEST(Loudness, CutsToFullScaleAtLast) {
  LoudnessConfig config;
  config.clip = true;
  std::vector<float> samples = {0.5F, 1.5F, -2.0F, -1.0F, 0.0F};
  apply_scaling(plan_scaling(config, loudness_of(samples)), samples);
  EXPECT_EQ(samples, (std::vector<float>{0.5F, 1.0F, -1.0F, -1.0F, 0.0F}));
}

TEST(Loudness, OfAPaddedClipCountsItsZeros) {
  const std::vector<float> samples(100, 0.5F);
  MemoryReader reader(samples);
  EXPECT_EQ(measure_loudness(reader, 0, 100, 400)->rms, 0.25F);
  EXPECT_EQ(*measure_square_sum(reader, 0, 100), 25.0);
}

TEST(Loudness, LeavesSilenceAndDenormalsAlone) {
  for (const LoudnessMethod method : {LoudnessMethod::kRms, LoudnessMethod::kPeak,
                                      LoudnessMethod::kLimit, LoudnessMethod::kLufs}) {
    const LoudnessConfig config{.method = method, .then_peak_to_one = true};
    EXPECT_EQ(plan_scaling(config, {}).gain(), 1.0F);
    EXPECT_EQ(plan_scaling(config, {.peak = 1e-40F, .rms = 0.0F}).gain(), 1.0F);
  }
}

// Squares underflow to an RMS of zero, which must not become a factor of infinity.
TEST(Loudness, SurvivesAnRmsThatUnderflows) {
  const LoudnessConfig config{.method = LoudnessMethod::kRms, .then_peak_to_one = true};
  std::vector<float> samples(100, 1e-30F);
  apply_scaling(plan_scaling(config, loudness_of(samples)), samples);
  EXPECT_EQ(samples, std::vector<float>(100, 1.0F));
}

TEST(Loudness, ScalesEachSampleAlikeWhateverItsPlace) {
  const Scaling scaling{.factor = 1.7, .divisor = 0.3, .last_factor = 0.95};
  std::vector<float> samples(11, 0.123F);
  apply_scaling(scaling, samples);
  EXPECT_EQ(samples, std::vector<float>(11, 0.123F * 1.7F / 0.3F * 0.95F));
}

}  // namespace
}  // namespace xtts::dsp
