#include "formats/manifest_recipe.hpp"

#include <gtest/gtest.h>

#include "formats/canonical_json.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "recipe/recipe_file.hpp"

namespace xtts::recipe {
namespace {

TEST(FeatureConfigJson, GivesBackEveryShippedRecipe) {
  for (const std::string& name : shipped_names()) {
    const auto recipe = load(Env::real(), name);
    ASSERT_TRUE(recipe.ok()) << name;
    const nlohmann::json json = formats::to_json(*recipe->features);
    const auto config = formats::feature_config_from_json(json);
    ASSERT_TRUE(config.ok()) << name << ": " << config.status().message();
    EXPECT_EQ(formats::to_json(*config), json) << name;
  }
}

TEST(FeatureConfigJson, ReadsFieldsThatDifferFromTheDefault) {
  formats::FeatureConfig config;
  config.sample_rate_hz = 16000;
  config.loudness.method = formats::LoudnessMethod::kRms;
  config.loudness.then_peak_to_one = true;
  config.stft.framing = formats::Framing::kSame;
  config.log.base = formats::LogBase::kTen;
  config.too_long = formats::TooLong::kTruncate;
  config.loudness.rms_plus = 0.5;
  config.loudness.clip = true;
  config.loudness.rounding = formats::Rounding::kOnce;
  config.sample_scale = 2;
  config.zeros = {1, 2, 3};
  config.stft.remove_dc = true;
  config.stft.preemphasis = 0.97;
  config.stft.drop_last = true;
  config.stft.multiple_frames = 2;
  config.mel.triangles = formats::MelTriangles::kMel;
  config.mel.bins_rate_hz = 8000;
  config.log.range = 8;
  config.normalize.channel_offsets = {1, 2};
  config.normalize.channel_scales = {3, 4};
  config.pad = formats::PadWhat::kSamples;
  const nlohmann::json json = formats::to_json(config);
  const auto read = formats::feature_config_from_json(json);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(formats::to_json(*read), json);
}

TEST(FeatureConfigJson, NamesWhatItDoesNotKnow) {
  nlohmann::json json = formats::to_json(formats::FeatureConfig());
  json["stft"]["window"] = "kaiser";
  EXPECT_EQ(formats::feature_config_from_json(json).status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(formats::feature_config_from_json(json).status().message().substr(0, 20),
            "features.stft.window");
  json = formats::to_json(formats::FeatureConfig());
  json["mel"].erase("n_mels");
  EXPECT_EQ(formats::feature_config_from_json(json).status().message().substr(0, 19),
            "features.mel.n_mels");
  json["mel"]["n_mels"] = -80;
  EXPECT_FALSE(formats::feature_config_from_json(json).ok());
  EXPECT_FALSE(formats::feature_config_from_json(nlohmann::json::array()).ok());
  EXPECT_FALSE(formats::feature_config_from_json(nlohmann::json()).ok());
}

}  // namespace
}  // namespace xtts::recipe
