// What the myxtts recipe does to samples before its features, against librosa's steps on LJSpeech
// clips. The files come from make_golden.py, which says what they hold; neither librosa nor the
// corpus is needed here. tests/golden/recipes has the features.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "dsp/condition.hpp"
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
  std::uint64_t conditioned_hash = 0;
};

std::vector<GoldenClip> read_clips() {
  std::ifstream file(kFolder + "clips.tsv");
  std::vector<GoldenClip> clips;
  GoldenClip clip;
  while (file >> clip.id >> clip.trim_start >> clip.trim_end >> std::hex >> clip.conditioned_hash >>
         std::dec) {
    clips.push_back(clip);
  }
  EXPECT_EQ(clips.size(), 4U);
  return clips;
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

}  // namespace
}  // namespace xtts::dsp
