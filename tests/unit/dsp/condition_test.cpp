#include "dsp/condition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dsp/trim.hpp"
#include "formats/feature_config.hpp"

namespace xtts::dsp {
namespace {

formats::FeatureConfig trimming_config() {
  formats::FeatureConfig config;
  config.trim.method = formats::TrimMethod::kTopDb;
  config.loudness.method = formats::LoudnessMethod::kRms;
  config.loudness.then_peak_to_one = true;
  return config;
}

std::vector<float> tone(std::size_t count, float amplitude) {
  std::vector<float> samples(count);
  for (std::size_t i = 0; i < count; ++i) {
    samples[i] = amplitude * std::sin(0.1F * static_cast<float>(i));
  }
  return samples;
}

Result<ConditionFacts> condition(const formats::FeatureConfig& config,
                                 std::vector<float>& samples) {
  Result<Conditioner> conditioner = Conditioner::create(config);
  if (!conditioner.ok()) return conditioner.status();
  return conditioner->apply(samples);
}

TEST(Conditioner, KeepsALoudClipWholeAndMakesItsPeakOne) {
  std::vector<float> samples = tone(20000, 0.25F);
  const Result<ConditionFacts> facts = condition(trimming_config(), samples);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->trim_start_samples, 0U);
  EXPECT_EQ(facts->trim_end_samples, 20000U);
  EXPECT_EQ(samples.size(), 20000U);
  EXPECT_EQ(*std::max_element(samples.begin(), samples.end()), 1.0F);
  EXPECT_NEAR(facts->scaling.gain(), 4.0F, 1e-4F);
  EXPECT_NEAR(facts->peak, 0.25F, 1e-5F);
  EXPECT_NEAR(facts->rms, 0.25F / std::sqrt(2.0F), 1e-4F);
  EXPECT_EQ(facts->silence_share, 0.0F);
}

// Frames reach 512 samples to each side of their hop, so sound is kept with at most that much
// silence around it.
TEST(Conditioner, CutsSilenceAroundTheSound) {
  std::vector<float> samples(60000, 0.0F);
  const std::vector<float> sound = tone(20000, 0.5F);
  std::copy(sound.begin(), sound.end(), samples.begin() + 20000);
  const Result<ConditionFacts> facts = condition(trimming_config(), samples);
  ASSERT_TRUE(facts.ok());
  EXPECT_LE(facts->trim_start_samples, 20000U);
  EXPECT_GE(facts->trim_start_samples, 20000U - 768U);
  EXPECT_GE(facts->trim_end_samples, 40000U);
  EXPECT_LE(facts->trim_end_samples, 40000U + 768U);
  EXPECT_EQ(samples.size(), facts->trim_end_samples - facts->trim_start_samples);
  EXPECT_GT(facts->silence_share, 0.6F);
  EXPECT_LT(facts->silence_share, 0.7F);
}

TEST(Conditioner, LeavesSilenceAsItIs) {
  std::vector<float> samples(5000, 0.0F);
  const Result<ConditionFacts> facts = condition(trimming_config(), samples);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(samples, std::vector<float>(5000, 0.0F));
  EXPECT_EQ(facts->scaling.gain(), 1.0F);
  EXPECT_EQ(facts->peak, 0.0F);
}

TEST(Conditioner, TakesAnEmptyClip) {
  std::vector<float> samples;
  const Result<ConditionFacts> facts = condition(trimming_config(), samples);
  ASSERT_TRUE(facts.ok());
  EXPECT_TRUE(samples.empty());
  EXPECT_EQ(facts->scaling.gain(), 1.0F);
  EXPECT_EQ(facts->trim_end_samples, 0U);
}

TEST(Conditioner, TakesClipsOfOneSampleAndOfLessThanAFrame) {
  for (const std::size_t count : {1U, 2U, 7U, 255U, 256U, 257U, 1023U}) {
    std::vector<float> samples(count, 0.5F);
    const Result<ConditionFacts> facts = condition(trimming_config(), samples);
    ASSERT_TRUE(facts.ok()) << count;
    EXPECT_EQ(samples, std::vector<float>(count, 1.0F)) << count;
  }
}

// Also where the broken sample lies in what the trim would cut away.
TEST(Conditioner, RejectsSamplesThatAreNotFinite) {
  for (const float broken :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const std::size_t place : {0U, 10000U, 19999U}) {
      std::vector<float> samples = tone(20000, 0.25F);
      samples[place] = broken;
      const Result<ConditionFacts> facts = condition(trimming_config(), samples);
      ASSERT_FALSE(facts.ok()) << place;
      EXPECT_EQ(facts.status().code(), StatusCode::kBadInput);
    }
  }
}

TEST(Conditioner, ChangesNothingWhenNothingIsAskedFor) {
  std::vector<float> samples = tone(3000, 0.25F);
  const std::vector<float> before = samples;
  const Result<ConditionFacts> facts = condition(formats::FeatureConfig{}, samples);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(samples, before);
  EXPECT_EQ(facts->scaling.gain(), 1.0F);
  EXPECT_GT(facts->peak, 0.24F);
}

TEST(Conditioner, RefusesAConfigThatDoesNotValidate) {
  formats::FeatureConfig config = trimming_config();
  config.trim.hop_samples = 0;
  const Result<Conditioner> conditioner = Conditioner::create(config);
  ASSERT_FALSE(conditioner.ok());
  EXPECT_EQ(conditioner.status().code(), StatusCode::kInvalidArgument);
}

// Hands out pieces as a file would: never more than asked for, from a buffer of its own.
class PieceReader final : public SampleReader {
 public:
  explicit PieceReader(std::vector<float> samples) : samples_(std::move(samples)) {}
  [[nodiscard]] std::uint64_t size() const override { return samples_.size(); }
  [[nodiscard]] Result<std::span<const float>> piece(std::uint64_t first,
                                                     std::size_t count) override {
    if (count > kPieceSamplesMax || first + count > samples_.size())
      return Status(StatusCode::kInternal, "asked for too much");
    const auto begin = samples_.begin() + static_cast<std::ptrdiff_t>(first);
    piece_.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    return std::span<const float>(piece_);
  }

 private:
  std::vector<float> samples_;
  std::vector<float> piece_;
};

TEST(Conditioner, MeasuresALongClipInPiecesAsItWouldInMemory) {
  for (const std::uint32_t frame_samples : {1024U, 1000U}) {  // with shared blocks, and without
    auto config = trimming_config();
    config.trim.frame_samples = frame_samples;
    std::vector<float> samples(900'001, 0.0F);
    const auto sound = tone(700'003, 0.3F);
    std::copy(sound.begin(), sound.end(), samples.begin() + 77'777);
    auto conditioner = Conditioner::create(config);
    ASSERT_TRUE(conditioner.ok());
    PieceReader reader(samples);
    const auto facts = conditioner->measure(reader);
    ASSERT_TRUE(facts.ok()) << facts.status().message();
    EXPECT_GT(facts->trim_start_samples, 0U);
    EXPECT_LT(facts->trim_end_samples, samples.size());
    const auto kept = std::span(samples).subspan(facts->trim_start_samples, facts->kept_samples());
    EXPECT_EQ(facts->peak, *std::max_element(kept.begin(), kept.end()));
    EXPECT_EQ(facts->rms, std::sqrt(static_cast<float>(static_cast<double>(pairwise_energy(kept)) /
                                                       static_cast<double>(kept.size()))));
    const auto whole = condition(config, samples);
    ASSERT_TRUE(whole.ok());
    EXPECT_EQ(whole->trim_start_samples, facts->trim_start_samples);
    EXPECT_EQ(whole->trim_end_samples, facts->trim_end_samples);
    EXPECT_EQ(whole->silence_share, facts->silence_share);
  }
}

}  // namespace
}  // namespace xtts::dsp
