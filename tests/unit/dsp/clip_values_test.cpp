#include "dsp/clip_values.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace xtts::dsp {
namespace {

using formats::FeatureConfig;
using formats::NormalizeMethod;

// Two channels.
FeatureConfig config_of(NormalizeMethod method) {
  FeatureConfig config;
  config.mel.n_mels = 2;
  config.normalize.method = method;
  return config;
}

TEST(ClipValues, AreLeftAloneWhereBlocksHaveDoneAll) {
  EXPECT_FALSE(ClipValues(config_of(NormalizeMethod::kNone)).is_needed());
  EXPECT_FALSE(ClipValues(config_of(NormalizeMethod::kAffine)).is_needed());
}

TEST(ClipValues, RangeIsUnderTheLargestValueOfThePaddingToo) {
  FeatureConfig config = config_of(NormalizeMethod::kNone);
  config.log.range = 8.0;
  std::vector<float> frames = {-20.0F, -3.0F, -5.0F, -11.5F};
  float padding = -30.0F;
  ClipValues(config).apply(frames, &padding);
  EXPECT_EQ(frames, (std::vector<float>{-11.0F, -3.0F, -5.0F, -11.0F}));
  EXPECT_EQ(padding, -11.0F);
  padding = 0.0F;
  ClipValues(config).apply(frames, &padding);
  EXPECT_EQ(frames, (std::vector<float>{-8.0F, -3.0F, -5.0F, -8.0F}));
}

TEST(ClipValues, AffineWaitsForTheRange) {
  FeatureConfig config = config_of(NormalizeMethod::kAffine);
  config.normalize.offset = -4.0;
  config.normalize.scale = 4.0;
  EXPECT_TRUE(has_affine_at_once(config));
  config.log.range = 8.0;
  EXPECT_FALSE(has_affine_at_once(config));
  std::vector<float> frames = {-20.0F, 0.0F};
  float padding = -10.0F;
  ClipValues(config).apply(frames, &padding);
  EXPECT_EQ(frames, (std::vector<float>{-1.0F, 1.0F}));
  EXPECT_EQ(padding, -1.0F);
}

TEST(ClipValues, MinMaxIsOverFramesAndPadding) {
  const ClipValues values(config_of(NormalizeMethod::kMinMax));
  std::vector<float> frames = {-4.0F, 0.0F, -2.0F, -3.0F};
  float padding = -8.0F;
  values.apply(frames, &padding);
  EXPECT_EQ(frames, (std::vector<float>{0.5F, 1.0F, 0.75F, 0.625F}));
  EXPECT_EQ(padding, 0.0F);
  std::vector<float> constant = {7.0F, 7.0F};
  values.apply(constant, nullptr);
  EXPECT_EQ(constant, (std::vector<float>{0.0F, 0.0F}));
}

TEST(ClipValues, MeanAndVarianceAreEachChannelsOwn) {
  std::vector<float> frames = {1.0F, 5.0F, 3.0F, 5.0F};
  ClipValues(config_of(NormalizeMethod::kMeanVariance)).apply(frames, nullptr);
  EXPECT_EQ(frames, (std::vector<float>{-1.0F, 0.0F, 1.0F, 0.0F}));
}

TEST(ClipValues, ChannelsHaveNumbersOfTheirOwn) {
  FeatureConfig config = config_of(NormalizeMethod::kChannels);
  config.normalize.channel_scales = {2.0, 4.0};
  std::vector<float> frames = {1.0F, 5.0F, 3.0F, 8.0F};
  ClipValues(config).apply(frames, nullptr);
  EXPECT_EQ(frames, (std::vector<float>{0.5F, 1.25F, 1.5F, 2.0F}));
  config.normalize.channel_offsets = {1.0, 0.0};
  ClipValues(config).apply(frames, nullptr);
  EXPECT_EQ(frames, (std::vector<float>{-0.25F, 0.3125F, 0.25F, 0.5F}));
}

TEST(ClipValues, OfNoFramesAreNone) {
  std::vector<float> none;
  float padding = 3.0F;
  ClipValues(config_of(NormalizeMethod::kMinMax)).apply(none, &padding);
  EXPECT_EQ(padding, 3.0F);
}

}  // namespace
}  // namespace xtts::dsp
