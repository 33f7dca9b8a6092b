// The meaning of a recipe's numbers, in words and as numbers that undo it.
#include <gtest/gtest.h>

#include <algorithm>

#include "formats/feature_config.hpp"
#include "formats/normalization.hpp"

namespace xtts::formats {
namespace {

std::string text_of(const FeatureConfig& features) {
  const auto normalization = normalization_of(features);
  return normalization ? normalization->text : "(none)";
}

FeatureConfig with(const NormalizeConfig& normalize) {
  FeatureConfig features;
  features.normalize = normalize;
  return features;
}

TEST(Normalization, SaysLogarithmFloorAndRange) {
  FeatureConfig features;
  EXPECT_EQ(text_of(features), "ln magnitude, floor 1e-5, not normalized");
  features.spectrum = SpectrumKind::kPower;
  features.log = {LogBase::kTen, LogFloor::kClamp, 1e-10, 8.0};
  EXPECT_EQ(text_of(features),
            "log10 power, floor 1e-10, at most 8 below the clip's largest, not normalized");
  features.log = {LogBase::kNatural, LogFloor::kAdd, 1e-6, 0.0};
  EXPECT_EQ(text_of(features), "ln power, 1e-6 added, not normalized");
  features.spectrum = SpectrumKind::kRootPlus;
  features.log = {LogBase::kNatural, LogFloor::kClamp, 1.1920928955078125e-07, 0.0};
  EXPECT_EQ(text_of(features), "ln magnitude, floor 1.1920928955078125e-7, not normalized");
  features.log.base = LogBase::kNone;
  EXPECT_EQ(text_of(features), "magnitude, no logarithm, not normalized");
  EXPECT_EQ(normalization_of(features)->floor, 0.0);
}

TEST(Normalization, SaysOffsetAndScaleAsAFormula) {
  const auto formula = [](double offset, double scale) {
    const std::string text =
        text_of(with({.method = NormalizeMethod::kAffine, .offset = offset, .scale = scale}));
    return text.substr(text.find("normalized: "));
  };
  EXPECT_EQ(formula(-5.536622, 2.116101), "normalized: (x + 5.536622) / 2.116101");
  EXPECT_EQ(formula(-4, 4), "normalized: (x + 4) / 4");
  EXPECT_EQ(formula(0.5, 1), "normalized: x - 0.5");
  EXPECT_EQ(formula(0, 20), "normalized: x / 20");
  EXPECT_EQ(formula(0, 1), "normalized: x");
  EXPECT_EQ(formula(1e20, 1e-20), "normalized: (x - 1e+20) / 1e-20");
}

TEST(Normalization, OfAffineIsUndoneByItsNumbers) {
  const auto made =
      normalization_of(with({.method = NormalizeMethod::kAffine, .offset = -4, .scale = 4}));
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->method, "affine");
  EXPECT_EQ(made->log, "natural");
  EXPECT_EQ(made->offset, std::vector<double>{-4});
  EXPECT_EQ(made->scale, std::vector<double>{4});
}

TEST(Normalization, OfChannelsHasOneNumberAChannel) {
  FeatureConfig features;
  features.mel.n_mels = 2;
  features.normalize = {.method = NormalizeMethod::kChannels,
                        .channel_scales = {2, 4}};  // no offsets: 0
  EXPECT_EQ(normalization_of(features)->offset, std::vector<double>(2, 0.0));
  EXPECT_EQ(text_of(features),
            "ln magnitude, floor 1e-5, normalized: x / scale, each channel by its own");
  features.normalize.channel_offsets = {1, 0};
  EXPECT_EQ(text_of(features),
            "ln magnitude, floor 1e-5, normalized: (x - offset) / scale, each channel by its own");
  const auto json = to_json(normalization_of(features));
  EXPECT_EQ(json["offset"], nlohmann::json({1.0, 0.0}));
  EXPECT_EQ(json["scale"], nlohmann::json({2.0, 4.0}));
}

TEST(Normalization, OverEachClipCannotBeUndone) {
  for (const auto method : {NormalizeMethod::kMinMax, NormalizeMethod::kMeanVariance}) {
    const auto made = normalization_of(with({.method = method}));
    ASSERT_TRUE(made.has_value());
    EXPECT_NE(made->text.find("normalized over each clip"), std::string::npos) << made->text;
    EXPECT_TRUE(made->offset.empty() && made->scale.empty());
    EXPECT_TRUE(to_json(made)["scale"].is_null());
  }
}

TEST(Normalization, OfABakedCacheUndoesBothSteps) {
  FeatureConfig features = with({.method = NormalizeMethod::kAffine, .offset = -4, .scale = 4});
  features.baked.mean = {0.5, -1};
  features.baked.std_deviation = {2, 0};  // 0 counts as 1e-5
  const auto made = normalization_of(features);
  ASSERT_TRUE(made.has_value());
  EXPECT_TRUE(made->is_baked);
  EXPECT_NE(made->text.find("(x + 4) / 4, then by the corpus: (x - mean) / deviation"),
            std::string::npos)
      << made->text;
  for (const double log : {-11.5, 0.0, 2.0}) {
    for (std::size_t channel = 0; channel < 2; ++channel) {
      const double stored = ((log + 4) / 4 - features.baked.mean[channel]) /
                            std::max(features.baked.std_deviation[channel], 1e-5);
      EXPECT_NEAR(stored * made->scale[channel] + made->offset[channel], log, 1e-9);
    }
  }
}

TEST(Normalization, OfABakedCacheOfPlainLogarithmsNamesTheCorpusAlone) {
  FeatureConfig features;
  features.baked.mean = {0.5};
  features.baked.std_deviation = {2};
  EXPECT_EQ(text_of(features),
            "ln magnitude, floor 1e-5, normalized by the corpus: (x - mean) / deviation, each "
            "channel by its own");
}

TEST(Normalization, OfSoundAloneIsNothing) {
  FeatureConfig features;
  features.columns = {.mel = false, .wave = WaveColumn::kInt16};
  EXPECT_FALSE(normalization_of(features).has_value());
  EXPECT_TRUE(to_json(normalization_of(features)).is_null());
}

}  // namespace
}  // namespace xtts::formats
