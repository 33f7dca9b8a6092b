// A recipe goes into a manifest and comes back, field by field: seen by the canonical JSON of what
// came back.
#include "formats/manifest_recipe.hpp"

#include <gtest/gtest.h>

#include "formats/canonical_json.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "formats/rules.hpp"

namespace xtts::formats {
namespace {

Manifest manifest_of(const Recipe& recipe) {
  Manifest manifest;
  manifest.recipe_name = recipe.name;
  manifest.features = to_json(*recipe.features);
  manifest.text = to_json(recipe.text);
  manifest.corpus = to_json(recipe.corpus);
  manifest.storage = to_json(recipe.storage);
  return manifest;
}

// Every member of a section another value than the default's, so that one that is not copied shows.
nlohmann::json with_numbers_changed(nlohmann::json section) {
  for (auto& [key, value] : section.items()) {
    if (value.is_object()) value = with_numbers_changed(value);
    if (value.is_boolean()) {
      value = !value.get<bool>();
    } else if (value.is_number_unsigned() || value.is_number_integer()) {
      value = value.get<std::uint32_t>() + 1U;
    } else if (value.is_number_float()) {
      value = value.get<double>() + 0.5;
    }
  }
  return section;
}

TEST(ManifestRecipe, ComesBackWithItsDefaults) {
  const Manifest manifest = manifest_of({});
  const auto recipe = recipe_of(manifest);
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_EQ(manifest_of(*recipe).features, manifest.features);
  EXPECT_EQ(manifest_of(*recipe).text, manifest.text);
  EXPECT_EQ(manifest_of(*recipe).corpus, manifest.corpus);
  EXPECT_EQ(manifest_of(*recipe).storage, manifest.storage);
  EXPECT_EQ(recipe->name, "myxtts");
}

TEST(ManifestRecipe, ComesBackWithEveryFieldChanged) {
  Manifest manifest = manifest_of({});
  manifest.features = with_numbers_changed(manifest.features);
  manifest.features["too_long"] = "truncate";
  manifest.text = with_numbers_changed(manifest.text);
  manifest.text.update({{"tokens", "characters"},
                        {"vocabulary", "abc"},
                        {"too_long", "truncate"},
                        {"unknown", "unk"}});
  manifest.corpus = with_numbers_changed(manifest.corpus);
  manifest.corpus.update({{"max_clip_seconds", 12.5},
                          {"split_by", "speaker"},
                          {"language", "fa"},
                          {"speaker", "anna"},
                          {"speaker_pattern", "(.*)_"},
                          {"metadata_train_file", "a.csv"},
                          {"metadata_eval_file", "b.csv"},
                          {"wavs_train_folder", "a"},
                          {"wavs_eval_folder", "b"},
                          {"audio_column", "c1"},
                          {"id_column", "c2"},
                          {"text_column", "c3"},
                          {"normalized_column", "c4"},
                          {"speaker_column", "c5"},
                          {"language_column", "c6"},
                          {"split_column", "c7"},
                          {"start_column", "c8"},
                          {"end_column", "c9"},
                          {"layout", "folder"}});
  constexpr std::string_view kSection = "corpus.";
  for (const RuleInfo& rule : all_rules()) {
    if (rule.effect != Effect::kChosen) continue;
    ASSERT_TRUE(rule.setting.starts_with(kSection)) << rule.name;
    manifest.corpus[std::string(rule.setting.substr(kSection.size()))] = "drop";
  }
  manifest.storage = {{"store", "hdf5"}, {"layout", "packed"}, {"dtype", "float16"}};
  const auto recipe = recipe_of(manifest);
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_EQ(manifest_of(*recipe).features, manifest.features);
  EXPECT_EQ(manifest_of(*recipe).text, manifest.text);
  EXPECT_EQ(manifest_of(*recipe).corpus, manifest.corpus);
  EXPECT_EQ(manifest_of(*recipe).storage, manifest.storage);
}

TEST(ManifestRecipe, NamesTheFieldThatItLacksOrDoesNotKnow) {
  Manifest manifest = manifest_of({});
  manifest.corpus.erase("duplicates");
  EXPECT_NE(recipe_of(manifest).status().message().find("corpus.duplicates"), std::string::npos);
  manifest = manifest_of({});
  manifest.storage["dtype"] = "float8";
  EXPECT_EQ(recipe_of(manifest).status().code(), StatusCode::kUnsupported);
  EXPECT_NE(recipe_of(manifest).status().message().find("storage.dtype"), std::string::npos);
  manifest = manifest_of({});
  manifest.text["max_tokens"] = std::uint64_t{1} << 33U;
  EXPECT_NE(recipe_of(manifest).status().message().find("text.max_tokens"), std::string::npos);
}

TEST(ManifestRecipe, WhatIsBakedComesBack) {
  Recipe baked;
  baked.features->baked = {.dtype = DType::kFloat16,
                           .mean = std::vector<double>(80, -4.5),
                           .std_deviation = std::vector<double>(80, 2.0)};
  const auto recipe = recipe_of(manifest_of(baked));
  ASSERT_TRUE(recipe.ok()) << recipe.status().message();
  EXPECT_EQ(to_json(*recipe->features), to_json(*baked.features));
}

TEST(ManifestRecipe, RefusesWhatIsBakedByOtherThanItsChannels) {
  const auto refused = [](const nlohmann::json& member, const nlohmann::json& value) {
    Manifest manifest = manifest_of({});
    manifest.features["baked"] = {{"dtype", "float32"},
                                  {"mean", std::vector<double>(80, 0.0)},
                                  {"std", std::vector<double>(80, 1.0)}};
    manifest.features["baked"][member.get<std::string>()] = value;
    return recipe_of(manifest).status().message();
  };
  EXPECT_NE(refused("mean", std::vector<double>(79, 0.0)).find("80 channels"), std::string::npos);
  EXPECT_NE(refused("std", nlohmann::json::array()).find("80 channels"), std::string::npos);
  EXPECT_NE(refused("mean", nlohmann::json::array()).find("80 channels"), std::string::npos);
  EXPECT_NE(refused("dtype", "int32").find("no float type"), std::string::npos);
  EXPECT_NE(refused("dtype", "float12").find("features.baked.dtype"), std::string::npos);
}

}  // namespace
}  // namespace xtts::formats
