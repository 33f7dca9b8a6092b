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
