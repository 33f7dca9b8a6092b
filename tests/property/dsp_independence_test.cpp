// A frame is a function of its own samples: not of its neighbours, of where buffers lie, of what
// was computed before, or of how the work was split. Compared by memcmp.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "dsp/extract.hpp"
#include "formats/feature_config.hpp"

namespace xtts::dsp {
namespace {

constexpr unsigned kSeed = 20240607;

std::vector<float> noise(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0F, 0.1F);
  std::vector<float> samples(count);
  for (float& sample : samples) sample = normal(random);
  return samples;
}

class FeatureIndependence : public ::testing::TestWithParam<formats::Precision> {
 protected:
  static FeatureExtractor make(formats::Framing framing = formats::Framing::kCenter) {
    formats::FeatureConfig config;
    config.precision = GetParam();
    config.stft.framing = framing;
    return std::move(FeatureExtractor::create(config)).value();
  }
  static std::vector<float> features(FeatureExtractor& extractor, std::span<const float> clip) {
    std::vector<float> mel(extractor.frame_count(clip.size()) * 80);
    EXPECT_TRUE(extractor.extract(clip, mel).ok());
    return mel;
  }
  static bool same(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
  }
};

// Frame f of the whole is frame 0 of the clip that begins at its first sample, wherever blocks of
// frames end.
TEST_P(FeatureIndependence, AnySplitOfTheClipGivesTheSameFrames) {
  FeatureExtractor extractor = make(formats::Framing::kNone);
  const std::vector<float> clip = noise(1024 + 256 * 40, kSeed);
  const std::vector<float> whole = features(extractor, clip);
  for (std::size_t first = 0; first <= 40; ++first) {
    for (const std::size_t count : {1U, 2U, 5U, 8U, 9U, 17U}) {
      if (first + count > 41) continue;
      const std::span<const float> part(clip.data() + 256 * first, 1024 + 256 * (count - 1));
      ASSERT_TRUE(same(features(extractor, part), std::span(whole).subspan(80 * first, 80 * count)))
          << "frames " << first << " to " << first + count;
    }
  }
}

TEST_P(FeatureIndependence, AlignmentOfTheSamplesDoesNotMatter) {
  FeatureExtractor extractor = make();
  const std::vector<float> clip = noise(5000, kSeed);
  const std::vector<float> expected = features(extractor, clip);
  for (std::size_t shift = 1; shift < 17; ++shift) {
    std::vector<float> moved(shift, 0.0F);
    moved.insert(moved.end(), clip.begin(), clip.end());
    EXPECT_TRUE(same(features(extractor, std::span(moved).subspan(shift)), expected)) << shift;
  }
}

// Before the log: half the samples make half the values, to the bit, and a power of two is nothing
// but an exponent.
TEST_P(FeatureIndependence, ScalesWithTheSamplesBeforeTheLog) {
  formats::FeatureConfig config;
  config.precision = GetParam();
  config.log.base = formats::LogBase::kNone;
  FeatureExtractor extractor = std::move(FeatureExtractor::create(config)).value();
  config.mel.scale = formats::MelScale::kNone;
  config.sample_scale = 0.5;
  FeatureExtractor linear = std::move(FeatureExtractor::create(config)).value();
  std::vector<float> clip = noise(5000, kSeed);
  const std::vector<float> whole = features(extractor, clip);
  std::vector<float> halved(linear.frame_count(clip.size()) * 513);
  EXPECT_TRUE(linear.extract(clip, halved).ok());
  for (float& sample : clip) sample *= 0.5F;
  std::vector<float> half = features(extractor, clip);
  for (float& value : half) value *= 2.0F;
  EXPECT_TRUE(same(half, whole));
  config.sample_scale = 1.0;
  FeatureExtractor unscaled = std::move(FeatureExtractor::create(config)).value();
  std::vector<float> of_halves(halved.size());
  EXPECT_TRUE(unscaled.extract(clip, of_halves).ok());
  EXPECT_TRUE(same(of_halves, halved));
}

TEST_P(FeatureIndependence, HistoryDoesNotMatter) {
  FeatureExtractor used = make();
  const std::vector<float> clip = noise(7777, kSeed);
  const std::vector<float> expected = features(used, clip);
  for (unsigned i = 0; i < 20; ++i) {
    (void)features(used, noise(1000 + 313 * i, kSeed + 1 + i));
    EXPECT_TRUE(same(features(used, clip), expected)) << i;
  }
  FeatureExtractor fresh = make();
  EXPECT_TRUE(same(features(fresh, clip), expected));
}

// Plans are made and executed on several threads at once.
TEST_P(FeatureIndependence, ThreadsDoNotMatter) {
  const std::vector<float> clip = noise(20000, kSeed);
  FeatureExtractor alone = make();
  const std::vector<float> expected = features(alone, clip);
  std::vector<std::vector<float>> results(4);
  {
    std::vector<std::jthread> threads;
    for (std::vector<float>& result : results) {
      threads.emplace_back([&] {
        FeatureExtractor extractor = make();
        result = features(extractor, clip);
      });
    }
  }
  for (const std::vector<float>& result : results) EXPECT_TRUE(same(result, expected));
}

INSTANTIATE_TEST_SUITE_P(EachPrecision, FeatureIndependence,
                         ::testing::Values(formats::Precision::kDouble,
                                           formats::Precision::kFloat32),
                         [](const auto& precision) {
                           return precision.param == formats::Precision::kDouble ? "double"
                                                                                 : "float32";
                         });

}  // namespace
}  // namespace xtts::dsp
