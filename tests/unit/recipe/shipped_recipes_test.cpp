#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "recipe/recipe_file.hpp"

namespace xtts::recipe {
namespace {

using formats::Recipe;

Recipe shipped(const std::string& name) {
  auto recipe = load(Env::real(), name);
  EXPECT_TRUE(recipe.ok()) << recipe.status().message();
  return std::move(recipe).value();
}

TEST(ShippedRecipes, AreAllTheFilesOfTheFolder) {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(XTTS_SOURCE_DIR "/configs/recipes")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().stem().string());
  }
  std::sort(files.begin(), files.end());
  EXPECT_EQ(shipped_names(), files);
}

TEST(ShippedRecipes, FitWhatTheyFitAsLongAsTheirFeaturesStay) {
  auto recipe = shipped("hifigan");
  EXPECT_TRUE(has_features_of_its_name(Env::real(), recipe));
  recipe.features->max_frames = 900;
  EXPECT_TRUE(has_features_of_its_name(Env::real(), recipe));
  recipe.features->mel.n_mels = 100;
  EXPECT_FALSE(has_features_of_its_name(Env::real(), recipe));
  recipe = shipped("hifigan");
  recipe.name = "mine";
  EXPECT_FALSE(has_features_of_its_name(Env::real(), recipe));
}

// A number only where values depend on it: a usual corpus must fit into every recipe.
TEST(ShippedRecipes, LeaveLengthsToTheCorpus) {
  for (const std::string& name : shipped_names()) {
    const Recipe recipe = shipped(name);
    const bool has_window = recipe.features->pad == formats::PadWhat::kSamples;
    EXPECT_EQ(recipe.features->max_frames.is_of_corpus(), !has_window) << name;
    EXPECT_TRUE(recipe.text.max_tokens.is_of_corpus()) << name;
  }
}

TEST(ShippedRecipes, AreComparedWithTheFeaturesOfACache) {
  auto recipe = shipped("f5-tts");
  recipe.features->max_frames = 900;
  recipe.features->columns.energy = true;
  EXPECT_THAT(differences_from_shipped(Env::real(), recipe), ::testing::IsEmpty());
  recipe.features->resampler = "soxr_hq";  // as it was before `resampler` was part of a recipe
  EXPECT_THAT(
      differences_from_shipped(Env::real(), recipe),
      ::testing::ElementsAre("features.resampler: \"soxr_hq\" here, \"torchaudio_sinc\" in the "
                             "shipped recipe"));
  recipe.name = "mine";
  EXPECT_THAT(differences_from_shipped(Env::real(), recipe), ::testing::IsEmpty());
}

// The resampler is part of a model's features: each recipe has that of its reference's own code.
TEST(ShippedRecipes, ResampleAsTheirReferences) {
  const std::map<std::string, std::string> others{
      {"cosyvoice", "torchaudio_sinc"}, {"cosyvoice2", "torchaudio_sinc"},
      {"f5-tts", "torchaudio_sinc"},    {"lhotse-fbank", "torchaudio_sinc"},
      {"vocos-24k", "torchaudio_sinc"}, {"wave-22k", "torchaudio_sinc"},
      {"wave-24k", "torchaudio_sinc"},  {"whisper-80", "ffmpeg_swr"},
      {"whisper-128", "ffmpeg_swr"},    {"xtts-dvae", "torchaudio_sinc"},
      {"xtts-cond", "torchaudio_sinc"}, {"xtts-cond-4096", "torchaudio_sinc"},
  };
  for (const std::string& name : shipped_names()) {
    const auto other = others.find(name);
    EXPECT_EQ(shipped(name).features->resampler, other == others.end() ? "soxr_hq" : other->second)
        << name;
  }
}

TEST(ShippedRecipes, AllLoadAndAreNamedAsTheirFile) {
  for (const std::string& name : shipped_names()) {
    const Recipe recipe = shipped(name);
    EXPECT_EQ(recipe.name, name);
    EXPECT_FALSE(recipe.about.empty()) << name;
    EXPECT_FALSE(recipe.fits.empty()) << name;
    EXPECT_TRUE(check(recipe).ok()) << name;
  }
}

TEST(ShippedRecipes, MyxttsHasTheNumbersOfItsReference) {
  const formats::FeatureConfig f = *shipped("myxtts").features;
  EXPECT_EQ(f.sample_rate_hz, 22050U);
  EXPECT_EQ(f.channels, formats::ChannelMix::kMean);
  EXPECT_EQ(f.resampler, "soxr_hq");
  EXPECT_EQ(f.trim.method, formats::TrimMethod::kTopDb);
  EXPECT_EQ(f.trim.top_db, 20.0);
  EXPECT_EQ(f.trim.frame_samples, 1024U);
  EXPECT_EQ(f.trim.hop_samples, 256U);
  EXPECT_EQ(f.loudness.method, formats::LoudnessMethod::kRms);
  EXPECT_EQ(f.loudness.target, 0.1);
  EXPECT_TRUE(f.loudness.limit_peak);
  EXPECT_TRUE(f.loudness.then_peak_to_one);
  EXPECT_EQ(f.stft.n_fft, 1024U);
  EXPECT_EQ(f.stft.win_samples, 1024U);
  EXPECT_EQ(f.stft.hop_samples, 256U);
  EXPECT_EQ(f.stft.symmetry, formats::WindowSymmetry::kPeriodic);
  EXPECT_EQ(f.stft.framing, formats::Framing::kCenter);
  EXPECT_EQ(f.stft.pad_mode, formats::PadMode::kZeros);
  EXPECT_EQ(f.spectrum, formats::SpectrumKind::kMagnitude);
  EXPECT_EQ(f.mel.n_mels, 80U);
  EXPECT_EQ(f.mel.f_min_hz, 0.0);
  EXPECT_EQ(f.mel.f_max_hz, 11025.0);
  EXPECT_EQ(f.mel.scale, formats::MelScale::kSlaney);
  EXPECT_EQ(f.mel.norm, formats::MelNorm::kSlaney);
  EXPECT_EQ(f.log.base, formats::LogBase::kNatural);
  EXPECT_EQ(f.log.mode, formats::LogFloor::kClamp);
  EXPECT_EQ(f.log.floor, 1e-5);
  EXPECT_EQ(f.normalize.method, formats::NormalizeMethod::kNone);
  EXPECT_EQ(to_string(f.max_frames), "800+");
  EXPECT_EQ(f.pad_value, 0.0);
  EXPECT_EQ(f.precision, formats::Precision::kDouble);
  EXPECT_EQ(to_string(shipped("myxtts").text.max_tokens), "200+");
}

TEST(ShippedRecipes, OthersDifferFromItWhereTheirReferencesDo) {
  const formats::FeatureConfig hifigan = *shipped("hifigan").features;
  EXPECT_EQ(hifigan.stft.framing, formats::Framing::kSame);
  EXPECT_EQ(hifigan.spectrum, formats::SpectrumKind::kRootPlus);
  EXPECT_EQ(hifigan.spectrum_floor, 1e-9);
  EXPECT_EQ(hifigan.loudness.method, formats::LoudnessMethod::kPeak);
  EXPECT_EQ(hifigan.loudness.target, 0.95);
  EXPECT_EQ(hifigan.mel.f_max_hz, 8000.0);
  const formats::FeatureConfig vocos = *shipped("vocos-24k").features;
  EXPECT_EQ(vocos.sample_rate_hz, 24000U);
  EXPECT_EQ(vocos.mel.n_mels, 100U);
  EXPECT_EQ(vocos.mel.scale, formats::MelScale::kHtk);
  EXPECT_EQ(vocos.mel.norm, formats::MelNorm::kNone);
  EXPECT_EQ(vocos.log.floor, 1e-7);
  const formats::FeatureConfig tacotron2 = *shipped("tacotron2").features;
  EXPECT_EQ(tacotron2.stft.pad_mode, formats::PadMode::kReflect);
  EXPECT_EQ(tacotron2.mel.f_max_hz, 8000.0);
  EXPECT_EQ(tacotron2.trim.method, formats::TrimMethod::kNone);
}

}  // namespace
}  // namespace xtts::recipe
