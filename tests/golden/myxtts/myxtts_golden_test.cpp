// The front end of the myxtts recipe against librosa's steps and against the formula in float64, on
// LJSpeech clips. The files come from make_golden.py, which says what they hold; neither librosa
// nor the corpus is needed here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "dsp/condition.hpp"
#include "dsp/extract.hpp"
#include "dsp/trim.hpp"
#include "formats/feature_config.hpp"
#include "tests/support/npy.hpp"

namespace xtts::dsp {
namespace {

const std::string kFolder = std::string(XTTS_SOURCE_DIR) + "/tests/golden/myxtts/";

formats::FeatureConfig myxtts_config() {
  formats::FeatureConfig config;
  config.trim.method = formats::TrimMethod::kTopDb;
  config.loudness.method = formats::LoudnessMethod::kRms;
  config.loudness.then_peak_to_one = true;
  config.stft.pad_mode = formats::PadMode::kZeros;
  return config;
}

std::vector<float> read_samples(const std::string& id) {
  const std::vector<std::int16_t> pcm = testing::read_npy<std::int16_t>(kFolder + id + ".pcm.npy");
  std::vector<float> samples(pcm.size());
  std::transform(pcm.begin(), pcm.end(), samples.begin(),
                 [](std::int16_t value) { return static_cast<float>(value) / 32768.0F; });
  return samples;
}

std::uint64_t fnv1a(const std::vector<float>& samples) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(samples.data());
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (std::size_t i = 0; i < samples.size() * sizeof(float); ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
  }
  return hash;
}

struct GoldenClip {
  std::string id;
  std::uint64_t trim_start = 0;
  std::uint64_t trim_end = 0;
  std::uint32_t frame_count = 0;
  std::uint64_t conditioned_hash = 0;
};

std::vector<GoldenClip> read_clips() {
  std::ifstream file(kFolder + "clips.tsv");
  std::vector<GoldenClip> clips;
  GoldenClip clip;
  while (file >> clip.id >> clip.trim_start >> clip.trim_end >> clip.frame_count >> std::hex >>
         clip.conditioned_hash >> std::dec) {
    clips.push_back(clip);
  }
  EXPECT_EQ(clips.size(), 4U);
  return clips;
}

template <typename Expected>
double worst_difference(const std::vector<float>& ours, const std::vector<Expected>& expected) {
  if (ours.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double worst = 0.0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    worst =
        std::max(worst, std::abs(static_cast<double>(ours[i]) - static_cast<double>(expected[i])));
  }
  return worst;
}

std::vector<float> features(const GoldenClip& clip, const formats::FeatureConfig& config, Isa isa) {
  std::vector<float> samples = read_samples(clip.id);
  Result<Conditioner> conditioner = Conditioner::create(config);
  Result<FeatureExtractor> extractor = FeatureExtractor::create(config, isa);
  if (!conditioner.ok() || !extractor.ok() || !conditioner->apply(samples).ok()) return {};
  std::vector<float> mel(extractor->frame_count(samples.size()) * config.mel.n_mels);
  return extractor->extract(samples, mel).ok() ? mel : std::vector<float>{};
}

TEST(MyxttsGolden, TrimsAtLibrosasSampleForEachClip) {
  for (const GoldenClip& clip : read_clips()) {
    std::vector<float> samples = read_samples(clip.id);
    Result<Conditioner> conditioner = Conditioner::create(myxtts_config());
    ASSERT_TRUE(conditioner.ok());
    const Result<ConditionFacts> facts = conditioner->apply(samples);
    ASSERT_TRUE(facts.ok());
    EXPECT_EQ(facts->trim_start_samples, clip.trim_start) << clip.id;
    EXPECT_EQ(facts->trim_end_samples, clip.trim_end) << clip.id;
  }
}

// Other thresholds, frames and hops, with and without zeros around: 72 cases, both ways of summing.
TEST(MyxttsGolden, TrimsAtLibrosasSampleForEachSetting) {
  std::ifstream file(kFolder + "trims.tsv");
  std::string id;
  formats::TrimConfig config;
  std::size_t zeros = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  int cases = 0;
  while (file >> id >> config.top_db >> config.frame_samples >> config.hop_samples >> zeros >>
         start >> end) {
    std::vector<float> samples = read_samples(id);
    samples.insert(samples.begin(), zeros, 0.0F);
    samples.insert(samples.end(), zeros, 0.0F);
    std::vector<float> levels_db;
    MemoryReader reader(samples);
    ASSERT_TRUE(frame_levels_db(reader, config, levels_db).ok());
    const SampleRange range = trim_range(levels_db, samples.size(), config);
    EXPECT_EQ(range.begin, start) << id << ", case " << cases;
    EXPECT_EQ(range.end, end) << id << ", case " << cases;
    ++cases;
  }
  EXPECT_EQ(cases, 72);
}

// An ulp in the samples is 3e-4 in quiet bands (see dsp/loudness.hpp), so the bits are asked for.
TEST(MyxttsGolden, ConditionsToTheSameBitsAsNumpy) {
  for (const GoldenClip& clip : read_clips()) {
    std::vector<float> samples = read_samples(clip.id);
    Result<Conditioner> conditioner = Conditioner::create(myxtts_config());
    ASSERT_TRUE(conditioner.ok());
    ASSERT_TRUE(conditioner->apply(samples).ok());
    EXPECT_EQ(samples.size(), clip.trim_end - clip.trim_start) << clip.id;
    EXPECT_EQ(fnv1a(samples), clip.conditioned_hash) << clip.id;
  }
}

TEST(MyxttsGolden, GivesLibrosasFrameCount) {
  for (const GoldenClip& clip : read_clips()) {
    const std::vector<float> mel = features(clip, myxtts_config(), Isa::kBest);
    EXPECT_EQ(mel.size(), std::size_t{clip.frame_count} * 80) << clip.id;
  }
}

class MyxttsGoldenIsa : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (GetParam() > best_isa()) {
      GTEST_SKIP() << "this processor lacks " << to_string(GetParam());
    }
  }
};

// Measured: 6.0e-7 here and 9.5e-7 (an ulp) from librosa; half an ulp of the float32 that holds a
// value near -11 is 4.8e-7.
TEST_P(MyxttsGoldenIsa, StaysWithinTheBoundOfTheFormula) {
  for (const GoldenClip& clip : read_clips()) {
    const std::vector<float> mel = features(clip, myxtts_config(), GetParam());
    const double worst =
        worst_difference(mel, testing::read_npy<double>(kFolder + clip.id + ".truth.npy"));
    RecordProperty(clip.id, std::to_string(worst * 1e9) + "e-9");
    EXPECT_LE(worst, 1e-5) << clip.id;
  }
}

TEST_P(MyxttsGoldenIsa, StaysWithinTheBoundOfLibrosa) {
  for (const GoldenClip& clip : read_clips()) {
    const std::vector<float> mel = features(clip, myxtts_config(), GetParam());
    const double worst =
        worst_difference(mel, testing::read_npy<float>(kFolder + clip.id + ".librosa.npy"));
    RecordProperty(clip.id, std::to_string(worst * 1e9) + "e-9");
    EXPECT_LE(worst, 1e-5) << clip.id;
  }
}

// precision: float32 is offered for speed and keeps no more than what a float32 FFT keeps.
TEST_P(MyxttsGoldenIsa, MissesTheFormulaByNoMoreThanAFloatFftInFloat32) {
  formats::FeatureConfig config = myxtts_config();
  config.precision = formats::Precision::kFloat32;
  for (const GoldenClip& clip : read_clips()) {
    const std::vector<float> mel = features(clip, config, GetParam());
    const double worst =
        worst_difference(mel, testing::read_npy<double>(kFolder + clip.id + ".truth.npy"));
    RecordProperty(clip.id, std::to_string(worst * 1e6) + "e-6");
    EXPECT_LE(worst, 2e-3) << clip.id;
    EXPECT_GT(worst, 1e-6) << clip.id << ": is it really float32?";
  }
}

INSTANTIATE_TEST_SUITE_P(EachIsa, MyxttsGoldenIsa,
                         ::testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512),
                         [](const auto& isa) { return std::string(to_string(isa.param)); });

}  // namespace
}  // namespace xtts::dsp
