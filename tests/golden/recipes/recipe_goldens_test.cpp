// Every shipped recipe against its formula in float64, against its reference's own output, and in
// its numbers of frames. The files come from make_goldens.py; none of the references is needed
// here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "dsp/extract.hpp"
#include "formats/recipe.hpp"
#include "recipe/recipe_file.hpp"
#include "tests/golden/recipes/clip_features.hpp"
#include "tests/golden/recipes/recipe_goldens.hpp"

namespace xtts::dsp {
namespace {

using testing::GoldenCase;
using testing::GoldenRecipe;

constexpr double kTolerance = 1e-5;  // natural-log units; the goldens are stored to 1e-6

class RecipeGoldens : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<formats::Recipe> recipe = recipe::load(Env::real(), golden_.recipe);
    ASSERT_TRUE(recipe.ok()) << recipe.status().message();
    for (const std::string& setting : golden_.settings) {
      const Status status = recipe::apply_setting(Env::real(), *recipe, setting);
      ASSERT_TRUE(status.ok()) << status.message();
    }
    ASSERT_EQ(recipe->features->sample_rate_hz, golden_.rate_hz);
    features_ = *recipe->features;
  }

  [[nodiscard]] Result<std::vector<float>> features(const std::vector<float>& samples) const {
    auto features = testing::ClipFeatures::create(features_);
    if (!features.ok()) return features.status();
    return features->of(samples);
  }

  GoldenRecipe golden_ = testing::golden_recipe(GetParam());
  formats::FeatureConfig features_;
};

// Tacotron 2 asserts that samples are within full scale. lhotse's own mirror fails under 140
// samples, where Kaldi's, which it stands for, makes a frame.
bool is_taken_on_purpose(const GoldenRecipe& recipe, const GoldenCase& golden) {
  return golden.input == "over-full-scale" ||
         (recipe.name == "lhotse-fbank" && golden.samples.size() >= 80);
}

TEST_P(RecipeGoldens, AreTheFormula) {
  for (const GoldenCase& golden : testing::golden_cases(golden_)) {
    SCOPED_TRACE(golden.input);
    const Result<std::vector<float>> mel = features(golden.samples);
    if (golden.frames == 0U) {  // a clip without a frame is no record
      EXPECT_FALSE(mel.ok());
      continue;
    }
    if (!golden.frames) {
      EXPECT_TRUE(!mel.ok() || is_taken_on_purpose(golden_, golden));
      continue;
    }
    ASSERT_TRUE(mel.ok()) << mel.status().message();
    EXPECT_LE(testing::worst_difference(*mel, golden.truth, golden_, golden), kTolerance);
  }
}

// A machine without these instructions makes other transforms, so other last bits.
TEST_P(RecipeGoldens, AreTheFormulaWithoutVectorInstructionsToo) {
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2}) {
    if (isa >= best_isa()) continue;
    auto features = testing::ClipFeatures::create(features_, isa);
    ASSERT_TRUE(features.ok()) << features.status().message();
    for (const GoldenCase& golden : testing::golden_cases(golden_)) {
      if (!golden.frames || *golden.frames == 0) continue;
      SCOPED_TRACE(golden.input);
      const Result<std::vector<float>> mel = features->of(golden.samples);
      ASSERT_TRUE(mel.ok()) << mel.status().message();
      EXPECT_LE(testing::worst_difference(*mel, golden.truth, golden_, golden), kTolerance);
    }
  }
}

TEST_P(RecipeGoldens, AreNoFurtherFromTheReferenceThanTheFormulaIs) {
  std::size_t compared = 0;
  for (const GoldenCase& golden : testing::golden_cases(golden_)) {
    if (golden.reference.empty()) continue;
    SCOPED_TRACE(golden.input);
    const Result<std::vector<float>> mel = features(golden.samples);
    ASSERT_TRUE(mel.ok()) << mel.status().message();
    const std::vector<float> whole_truth = [&golden] {
      std::vector<float> rows = golden.truth;
      const std::vector<float> last(rows.end() - golden.bins, rows.end());
      while (rows.size() < *golden.frames * golden.bins)
        rows.insert(rows.end(), last.begin(), last.end());
      return rows;
    }();
    const double of_the_formula =
        testing::worst_difference(whole_truth, golden.reference, golden_, golden);
    EXPECT_LE(testing::worst_difference(*mel, golden.reference, golden_, golden),
              of_the_formula + kTolerance);
    ++compared;
  }
  EXPECT_GT(compared, 0U);
}

TEST_P(RecipeGoldens, HaveTheReferencesNumberOfFrames) {
  if (features_.pad == formats::PadWhat::kSamples) return;  // always max_frames: AreTheFormula
  const Result<FeatureExtractor> extractor = FeatureExtractor::create(features_);
  ASSERT_TRUE(extractor.ok()) << extractor.status().message();
  for (const testing::GoldenFrames& range : testing::golden_frames(golden_.name)) {
    if (!range.frames) continue;  // AreTheFormula has clips that are refused
    // An empty file is no clip here, though some references make frames of their padding.
    for (std::uint64_t length = std::max<std::uint64_t>(1, range.first_length);
         length <= range.last_length; ++length) {
      ASSERT_EQ(extractor->frame_count(length), *range.frames) << length << " samples";
    }
  }
}

// `precision: float32` is offered for speed and keeps no more than what a float32 FFT keeps.
TEST(RecipeGoldensInFloat32, MissTheFormulaByNoMoreThanAFloatFft) {
  const GoldenRecipe recipe = testing::golden_recipe("myxtts");
  formats::FeatureConfig config = *recipe::load(Env::real(), recipe.recipe)->features;
  config.precision = formats::Precision::kFloat32;
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > best_isa()) continue;
    for (const GoldenCase& golden : testing::golden_cases(recipe)) {
      if (golden.input != "lj") continue;
      auto features = testing::ClipFeatures::create(config, isa);
      ASSERT_TRUE(features.ok()) << features.status().message();
      const double worst =
          testing::worst_difference(*features->of(golden.samples), golden.truth, recipe, golden);
      EXPECT_LE(worst, 2e-3) << to_string(isa);
      EXPECT_GT(worst, 1e-6) << to_string(isa) << ": is it really float32?";
    }
  }
  if (best_isa() < Isa::kAvx512)
    GTEST_SKIP() << "this processor lacks AVX-512, so no test here compares those transforms";
}

std::string test_name(const ::testing::TestParamInfo<std::string>& golden) {
  std::string name = golden.param;
  for (char& letter : name) letter = letter == '-' || letter == '+' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Recipes, RecipeGoldens, ::testing::ValuesIn(testing::golden_names()),
                         test_name);

TEST(ShippedRecipes, HaveGoldens) {
  std::vector<std::string> of_frames = recipe::shipped_names();
  std::erase_if(of_frames, [](const std::string& name) { return name.starts_with("wave-"); });
  EXPECT_THAT(testing::golden_names(), ::testing::IsSupersetOf(of_frames));
}

}  // namespace
}  // namespace xtts::dsp
