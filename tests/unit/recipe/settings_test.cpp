#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "recipe/recipe_file.hpp"

namespace xtts::recipe {
namespace {

using formats::LoudnessMethod;
using formats::Recipe;

Recipe myxtts() {
  auto recipe = load(Env::real(), "myxtts");
  EXPECT_TRUE(recipe.ok()) << recipe.status().message();
  return std::move(recipe).value();
}

Status set(Recipe& recipe, std::string_view setting) {
  return apply_setting(Env::real(), recipe, setting);
}

std::string refusal(std::string_view setting) {
  Recipe recipe = myxtts();
  const std::string before = to_yaml(recipe);
  const Status status = set(recipe, setting);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << setting;
  EXPECT_EQ(to_yaml(recipe), before) << "a refused setting must change nothing";
  return status.message();
}

TEST(Settings, TakeFullAndShortKeys) {
  for (const char* setting : {"features.mel.n_mels=100", "mel.n_mels=100", "n_mels=100"}) {
    Recipe recipe = myxtts();
    ASSERT_TRUE(set(recipe, setting).ok()) << setting;
    EXPECT_EQ(recipe.features->mel.n_mels, 100U);
  }
  Recipe recipe = myxtts();
  ASSERT_TRUE(set(recipe, "text.max_tokens=300").ok());
  ASSERT_TRUE(set(recipe, "max_frames=1024").ok());
  ASSERT_TRUE(set(recipe, "fits=a,b c").ok());
  ASSERT_TRUE(set(recipe, "corpus.speaker_pattern=^(p=\\d+)_").ok());
  EXPECT_EQ(recipe.text.max_tokens, 300U);
  EXPECT_EQ(recipe.features->max_frames, 1024U);
  EXPECT_THAT(recipe.fits, testing::ElementsAre("a", "b c"));
  EXPECT_EQ(recipe.corpus.speaker_pattern, "^(p=\\d+)_");
  EXPECT_TRUE(check(recipe).ok());
}

TEST(Settings, TakeLengthsOfTheCorpus) {
  Recipe recipe = myxtts();
  ASSERT_TRUE(set(recipe, "max_frames=auto").ok());
  ASSERT_TRUE(set(recipe, "max_tokens=64+").ok());
  EXPECT_EQ(to_string(recipe.features->max_frames), "auto");
  EXPECT_EQ(to_string(recipe.text.max_tokens), "64+");
  ASSERT_TRUE(set(recipe, "max_frames=1024").ok());
  EXPECT_EQ(to_string(recipe.features->max_frames), "1024");
  EXPECT_EQ(refusal("max_frames=200000+"),
            "--set max_frames=200000+: features.max_frames: 200000 is outside 1 to 100000");
}

TEST(Settings, TakeListsAsYamlAndJsonWriteThem) {
  for (const char* list : {"nfc,digits", "[nfc, digits]", R"(["nfc", "digits"])"}) {
    Recipe recipe = myxtts();
    ASSERT_TRUE(set(recipe, std::string("text.normalize=") + list).ok()) << list;
    ASSERT_EQ(recipe.text.normalize.size(), 2U) << list;
    EXPECT_EQ(recipe.text.normalize[1].name, "digits");
    ASSERT_TRUE(set(recipe, "text.normalize=[]").ok());
    EXPECT_TRUE(recipe.text.normalize.empty());
  }
  EXPECT_EQ(refusal("text.normalize=[nfd]"),
            "--set 'text.normalize=[nfd]': text.normalize: 'nfd' is none of nfc | arabic_letters | "
            "diacritics | digits | zwnj");
  Recipe silent = myxtts();
  ASSERT_TRUE(set(silent, "text.store=false").ok());
  EXPECT_NE(set(silent, "text.normalize=nfc").message().find("text.store is false"),
            std::string::npos);
}

TEST(Settings, RefuseWhatIsAmbiguousUnknownOrWrong) {
  EXPECT_EQ(refusal("too_long=drop"),
            "--set too_long=drop: several keys are called so: write one of features.too_long or "
            "text.too_long");
  EXPECT_EQ(refusal("n_mel=3"), "--set n_mel=3: unknown key; did you mean 'features.mel.n_mels'?");
  EXPECT_EQ(refusal("mel.n_mels"), "--set mel.n_mels: write KEY=VALUE");
  EXPECT_EQ(refusal("n_mels="), "--set n_mels=: features.mel.n_mels: '' is not a whole number");
  EXPECT_EQ(refusal("max_frames=0"),
            "--set max_frames=0: features.max_frames: 0 is outside 1 to 100000");
  EXPECT_EQ(refusal("pad_value=nan"),
            "--set pad_value=nan: features.pad_value: 'nan' is not a number");
  EXPECT_EQ(refusal("text.vocabulary=abc"),
            "--set text.vocabulary=abc: text.vocabulary: ignored, because text.tokens is bytes");
}

TEST(Settings, OfSeveralTheSwitchesComeFirst) {
  auto recipe = load(Env::real(), "vits-linear");
  ASSERT_TRUE(recipe.ok());
  const Status status = apply_settings(
      Env::real(), *recipe,
      {"loudness.target=-23", "mel.f_max_hz=8000", "loudness.method=lufs", "mel.n_mels=40",
       "log.floor=1e-3", "log.base=ten", "mel.n_mels=41", "columns.mel=true"});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(recipe->features->loudness.target, -23);
  EXPECT_EQ(recipe->features->mel.f_max_hz, 8000);
  EXPECT_EQ(recipe->features->mel.n_mels, 41U);
  EXPECT_EQ(recipe->features->log.floor, 1e-3);
  EXPECT_FALSE(apply_settings(Env::real(), *recipe, {"nothing=1", "mel.n_mels=3"}).ok());
}

TEST(Settings, ForgetWhatASwitchMakesMeaningless) {
  Recipe recipe = myxtts();
  ASSERT_TRUE(set(recipe, "loudness.method=none").ok());
  EXPECT_EQ(recipe.features->loudness.method, LoudnessMethod::kNone);
  EXPECT_FALSE(recipe.features->loudness.then_peak_to_one);
  EXPECT_TRUE(check(recipe).ok());
}

// The command lines that the comments of configs/recipes give.
TEST(Settings, DoWhatTheCommentsOfTheShippedRecipesSay) {
  Recipe hifigan = *load(Env::real(), "hifigan");
  ASSERT_TRUE(set(hifigan, "loudness.method=none").ok());
  EXPECT_TRUE(check(hifigan).ok());
  Recipe vocos = *load(Env::real(), "vocos-24k");
  ASSERT_TRUE(set(vocos, "loudness.method=peak").ok());
  ASSERT_TRUE(set(vocos, "loudness.target=0.70794578").ok());
  EXPECT_NEAR(20 * std::log10(vocos.features->loudness.target), -3.0, 1e-7);
  EXPECT_TRUE(check(vocos).ok());
  Recipe vits = *load(Env::real(), "vits-linear");
  ASSERT_TRUE(set(vits, "columns.wave=int16").ok());
  EXPECT_TRUE(has_features_of_its_name(Env::real(), vits));
  ASSERT_TRUE(set(vits, "columns.mel=true").ok());
  ASSERT_TRUE(set(vits, "f_max_hz=11025").ok());
  EXPECT_TRUE(check(vits).ok());
}

TEST(Settings, MayContradictEachOtherUntilTheLast) {
  Recipe recipe = myxtts();
  ASSERT_TRUE(set(recipe, "sample_rate_hz=16000").ok());
  EXPECT_EQ(check(recipe).message(),
            "features.mel.f_max_hz, sample_rate_hz: 11025 Hz is above half of 16000 Hz, the "
            "highest frequency there is");
  ASSERT_TRUE(set(recipe, "mel.f_max_hz=8000").ok());
  EXPECT_TRUE(check(recipe).ok());
}

}  // namespace
}  // namespace xtts::recipe
