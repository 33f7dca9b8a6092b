// validate() of the sections, from code rather than from a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "formats/feature_members.hpp"
#include "formats/recipe_members.hpp"

namespace xtts::formats {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Validate, AcceptsTheDefaults) {
  EXPECT_THAT(FeatureConfig().validate(), IsEmpty());
  EXPECT_THAT(TextConfig().validate(), IsEmpty());
  EXPECT_THAT(CorpusConfig().validate(), IsEmpty());
  EXPECT_THAT(StorageConfig().validate(), IsEmpty());
}

template <typename Section>
struct ExpectLimits {
  double bad;

  void member(const auto& /*row*/, const std::string& name, auto at) {
    Section section;
    if constexpr (std::is_same_v<Section, FeatureConfig>)
      section.spectrum = SpectrumKind::kRootPlus;  // the others have no use for its floor
    using Value = std::remove_reference_t<decltype(at(section))>;
    if constexpr (std::is_same_v<Value, double> || std::is_same_v<Value, std::optional<double>>) {
      at(section) = bad;
      EXPECT_THAT(section.validate(), Contains(testing::StartsWith(name + ": "))) << bad;
    }
  }
  bool enters(const auto& row, const std::string& /*name*/, auto /*at*/) {
    return row.is_there == nullptr;  // no recipe sets what is baked
  }
};

TEST(Validate, RefusesNotANumberAndInfinityEverywhere) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()}) {
    ExpectLimits<FeatureConfig> features{bad};
    visit_members(kFeatureMembers, "", kItself, features);
    ExpectLimits<CorpusConfig> corpus{bad};
    visit_members(kCorpusMembers, "", kItself, corpus);
  }
}

TEST(Validate, TellsEveryProblemAtOnce) {
  FeatureConfig config;
  config.stft = {.n_fft = 1023, .win_samples = 2048, .hop_samples = 0};
  config.mel.n_mels = 0;
  EXPECT_THAT(
      config.validate(),
      ElementsAre(
          "stft.n_fft: 1023 is odd; an even length is needed",
          "stft.hop_samples: 0 is outside 1 to 65536",
          "stft.win_samples, stft.n_fft: the window (2048) is longer than the transform (1023)",
          "mel.n_mels: 0 is outside 1 to 1024"));
}

TEST(Validate, BoundsTheBytesOfARecord) {
  FeatureConfig config;
  config.max_frames = 100000;
  config.mel.n_mels = 1024;
  EXPECT_THAT(config.validate(),
              ElementsAre("max_frames, columns.mel: a record of 390 MiB; at most 64"));
}

TEST(Validate, RefusesSwitchesThatDoNothing) {
  FeatureConfig config;
  config.loudness.then_peak_to_one = true;
  config.spectrum_floor = 1e-9;
  EXPECT_THAT(config.validate(),
              ElementsAre(HasSubstr("loudness.then_peak_to_one"), HasSubstr("spectrum_floor")));
}

TEST(Validate, WantsASpeakerPatternWithAGroup) {
  CorpusConfig config;
  config.speaker_pattern = "^p\\d+";
  EXPECT_THAT(
      config.validate(),
      ElementsAre("speaker_pattern: '^p\\d+' has no (group); the first group is the speaker"));
  config.speaker_pattern = "(p";
  EXPECT_THAT(config.validate(), ElementsAre(HasSubstr("'(p' is not a regular expression")));
  config.speaker_pattern = "^(p\\d+)";
  EXPECT_THAT(config.validate(), IsEmpty());
}

TEST(Validate, AllowsSplitsThatMakeOneByRounding) {
  CorpusConfig config;
  config.train_split = 0.7;
  config.validation_split = 0.3;
  EXPECT_THAT(config.validate(), IsEmpty());
  config.validation_split = 0.31;
  EXPECT_THAT(config.validate(),
              ElementsAre("train_split, validation_split: together 1.01, more than 1"));
}

TEST(Validate, PaddingOfSamplesMustHaveOneValue) {
  FeatureConfig config;
  config.pad = PadWhat::kSamples;
  EXPECT_TRUE(config.validate().empty());
  config.normalize.method = NormalizeMethod::kMeanVariance;
  config.stft.framing = Framing::kNone;
  config.zeros.front_samples = 1;
  EXPECT_THAT(config.validate(),
              testing::UnorderedElementsAre(testing::StartsWith("pad, zeros: "),
                                            testing::StartsWith("pad, normalize.method: "),
                                            testing::StartsWith("pad, stft.framing: ")));
}

TEST(Validate, ChannelNumbersAreAsManyAsChannels) {
  FeatureConfig config;
  config.mel.n_mels = 2;
  config.normalize.method = NormalizeMethod::kChannels;
  EXPECT_THAT(config.validate(), ElementsAre(HasSubstr("as many numbers as channels, 2, not 0")));
  config.normalize.channel_scales = {1, 0};
  config.normalize.channel_offsets = {1};
  EXPECT_THAT(config.validate(),
              ElementsAre(testing::StartsWith("normalize.channel_offsets: "),
                          testing::StartsWith("normalize.channel_scales: 0 must be")));
  config.normalize.channel_scales = {1, 2};
  config.normalize.channel_offsets = {};
  EXPECT_TRUE(config.validate().empty());
}

TEST(Validate, FiltersMayStandForAnotherRate) {
  FeatureConfig config;
  config.sample_rate_hz = 8000;
  config.mel.f_max_hz = 8000;
  EXPECT_THAT(config.validate(),
              ElementsAre(testing::StartsWith("mel.f_max_hz, sample_rate_hz: ")));
  config.mel.bins_rate_hz = 16000;
  EXPECT_TRUE(config.validate().empty());
  config.mel.bins_rate_hz = 12000;
  EXPECT_THAT(config.validate(),
              ElementsAre(testing::StartsWith("mel.f_max_hz, mel.bins_rate_hz: ")));
}

TEST(Validate, LufsAreBelowZero) {
  FeatureConfig config;
  config.loudness.method = LoudnessMethod::kLufs;
  config.loudness.target = 0.1;
  EXPECT_THAT(config.validate(), ElementsAre(testing::StartsWith("loudness.target: ")));
  config.loudness.target = -23;
  EXPECT_TRUE(config.validate().empty());
}

}  // namespace
}  // namespace xtts::formats
