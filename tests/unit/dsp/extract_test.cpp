#include "dsp/extract.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "dsp/mel_filters.hpp"
#include "formats/feature_config.hpp"
#include "tests/unit/dsp/isa_support.hpp"

namespace xtts::dsp {
namespace {

class Extractor : public EachIsa {
 protected:
  static FeatureExtractor make(const formats::FeatureConfig& config) {
    return std::move(FeatureExtractor::create(config, GetParam())).value();
  }
};

TEST_P(Extractor, PutsSilenceAtTheLogsFloor) {
  formats::FeatureConfig config;
  for (const std::uint32_t n_mels : {1U, 7U, 80U, 128U}) {
    config.mel.n_mels = n_mels;
    FeatureExtractor extractor = make(config);
    std::vector<float> mel(extractor.frame_count(4000) * n_mels, 9.0F);
    const Result<Extracted> frames = extractor.extract(std::vector<float>(4000, 0.0F), mel);
    ASSERT_TRUE(frames.ok());
    EXPECT_EQ(frames->frame_count, 16U);
    for (const float value : mel) EXPECT_FLOAT_EQ(value, std::log(1e-5F));
  }
}

// A tone of amplitude A at bin k has magnitude A N / 4 there and half of it beside; far from the
// edges each frame has it.
TEST_P(Extractor, GivesAToneTheBandsThatItsBinsBelongTo) {
  formats::FeatureConfig config;
  config.log.base = formats::LogBase::kNone;
  config.log.floor = 0.0;
  if (!config.validate().empty()) config.log = formats::LogConfig{.base = formats::LogBase::kNone};
  constexpr std::size_t kBin = 100;
  std::vector<float> tone(8192);
  for (std::size_t n = 0; n < tone.size(); ++n) {
    tone[n] = static_cast<float>(
        0.5 * std::cos(2.0 * std::numbers::pi * kBin * static_cast<double>(n) / 1024.0));
  }
  FeatureExtractor extractor = make(config);
  std::vector<float> mel(extractor.frame_count(tone.size()) * 80);
  ASSERT_TRUE(extractor.extract(tone, mel).ok());
  const std::vector<MelFilter> filters = make_mel_filters(config.mel, 22050, 1024);
  for (std::size_t m = 0; m < 80; ++m) {
    double expected = 0.0;
    for (std::size_t i = 0; i < filters[m].weights.size(); ++i) {
      const std::size_t bin = filters[m].first_bin + i;
      if (bin == kBin) expected += 128.0 * filters[m].weights[i];
      if (bin + 1 == kBin || bin == kBin + 1) expected += 64.0 * filters[m].weights[i];
    }
    EXPECT_NEAR(mel[16 * 80 + m], expected, 1e-4) << m;
  }
}

TEST_P(Extractor, WritesNoMoreFramesThanThereIsRoom) {
  FeatureExtractor extractor = make({});
  const std::vector<float> clip(10000, 0.1F);
  std::vector<float> whole(extractor.frame_count(clip.size()) * 80);
  ASSERT_TRUE(extractor.extract(clip, whole).ok());
  std::vector<float> part(11 * 80 + 79, 5.0F);
  const Result<Extracted> frames = extractor.extract(clip, part);
  ASSERT_TRUE(frames.ok());
  EXPECT_EQ(frames->frame_count, 11U);
  for (std::size_t i = 0; i < 11 * 80; ++i) EXPECT_EQ(part[i], whole[i]);
  for (std::size_t i = 11 * 80; i < part.size(); ++i) EXPECT_EQ(part[i], 5.0F);
}

TEST_P(Extractor, RejectsClipsTooShortForTheirPadding) {
  FeatureExtractor mirrored = make({});
  std::vector<float> mel(800);
  for (const std::size_t count : {0U, 1U, 512U}) {
    const Result<Extracted> frames = mirrored.extract(std::vector<float>(count, 0.1F), mel);
    ASSERT_FALSE(frames.ok()) << count;
    EXPECT_EQ(frames.status().code(), StatusCode::kBadInput);
  }
  EXPECT_TRUE(mirrored.extract(std::vector<float>(513, 0.1F), mel).ok());
  formats::FeatureConfig zeros;
  zeros.stft.pad_mode = formats::PadMode::kZeros;
  EXPECT_TRUE(make(zeros).extract(std::vector<float>(1, 0.1F), mel).ok());
}

INSTANTIATE_TEST_SUITE_P(EachIsa, Extractor,
                         ::testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512), isa_name);

// Power beyond float32, in all frames or in the last one alone. What a refused clip has left in the
// lanes of a block is not seen in the next clip, which does not fill its last block.
TEST_P(Extractor, RefusesMelsThatAreNotFiniteAndForgetsThem) {
  for (const auto scale : {formats::MelScale::kSlaney, formats::MelScale::kNone}) {
    formats::FeatureConfig config;
    config.mel.scale = scale;
    ASSERT_EQ(config.validate(), std::vector<std::string>());
    FeatureExtractor extractor = make(config);
    std::vector<float> fair(3000);
    for (std::size_t i = 0; i < fair.size(); ++i)
      fair[i] = std::sin(0.1F * static_cast<float>(i)) + 0.1F * static_cast<float>(i % 7);
    std::vector<float> expected(extractor.frame_count(fair.size()) * config.channel_count());
    ASSERT_NE(extractor.frame_count(fair.size()) % 8, 0U);
    ASSERT_TRUE(extractor.extract(fair, expected).ok());

    std::vector<float> loud(8192);
    std::vector<float> mel(extractor.frame_count(loud.size()) * config.channel_count());
    for (const std::size_t first : {std::size_t{0}, loud.size() - 100}) {
      for (std::size_t i = first; i < loud.size(); ++i) loud[i] = i % 2 == 0 ? 1e18F : 9e17F;
      EXPECT_EQ(extractor.extract(loud, mel).status().code(), StatusCode::kBadInput) << first;
      std::vector<float> again(expected.size());
      ASSERT_TRUE(extractor.extract(fair, again).ok());
      EXPECT_EQ(again, expected);
      std::fill(loud.begin(), loud.end(), 0.0F);
    }
  }
}

TEST(FeatureExtractor, RefusesAConfigThatDoesNotValidate) {
  formats::FeatureConfig config;
  config.stft.n_fft = 1023;
  const Result<FeatureExtractor> extractor = FeatureExtractor::create(config);
  ASSERT_FALSE(extractor.ok());
  EXPECT_EQ(extractor.status().code(), StatusCode::kInvalidArgument);
}

TEST(FeatureExtractor, RefusesAnInstructionSetThatIsNotThere) {
  if (best_isa() == Isa::kAvx512) GTEST_SKIP() << "this processor has every set";
  const Result<FeatureExtractor> extractor = FeatureExtractor::create({}, Isa::kAvx512);
  ASSERT_FALSE(extractor.ok());
  EXPECT_EQ(extractor.status().code(), StatusCode::kInvalidArgument);
}

TEST(FeatureExtractor, NamesLibraryAndInstructionSet) {
  EXPECT_NE(feature_libraries(Isa::kScalar).find("fftw-3"), std::string::npos);
  EXPECT_NE(feature_libraries(Isa::kScalar).find("scalar"), std::string::npos);
  EXPECT_EQ(feature_libraries(Isa::kBest), feature_libraries(best_isa()));
}

}  // namespace
}  // namespace xtts::dsp
