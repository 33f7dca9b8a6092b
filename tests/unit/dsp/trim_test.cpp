#include "dsp/trim.hpp"
#include "formats/condition_config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace xtts::dsp {
namespace {

std::vector<float> noise(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0F, 0.1F);
  std::vector<float> samples(count);
  for (float& sample : samples) sample = normal(random);
  return samples;
}

void levels_of(const std::vector<float>& samples, const formats::TrimConfig& config,
               std::vector<float>& levels_db) {
  MemoryReader reader(samples);
  ASSERT_TRUE(frame_levels_db(reader, config, levels_db).ok());
}

TEST(Trim, AddsOnesExactly) {
  for (const std::size_t count : {0U, 1U, 7U, 8U, 9U, 128U, 129U, 1000U, 1024U, 4095U}) {
    EXPECT_EQ(pairwise_energy(std::vector<float>(count, 1.0F)), static_cast<float>(count));
  }
}

TEST(Trim, HasLibrosasNumberOfFrames) {
  std::vector<float> levels_db;
  for (const std::size_t count : {1U, 255U, 256U, 257U, 5000U}) {
    levels_of(noise(count, 1), {.frame_samples = 1024, .hop_samples = 256}, levels_db);
    EXPECT_EQ(levels_db.size(), 1 + count / 256) << count;
  }
  levels_of({}, {}, levels_db);
  EXPECT_TRUE(levels_db.empty());
}

TEST(Trim, GivesTheLoudestFrameZeroDecibels) {
  std::vector<float> levels_db;
  levels_of(noise(30000, 2), {}, levels_db);
  float loudest = -1e9F;
  for (const float level : levels_db) loudest = std::max(loudest, level);
  EXPECT_EQ(loudest, 0.0F);
}

// The short cut over shared blocks must not be told from summing each frame: a shift by a whole hop
// of zeros moves the blocks' borders with the frames, one by 64 samples would not.
TEST(Trim, SharesBlocksWithoutChangingABit) {
  const std::vector<float> samples = noise(12345, 3);
  const formats::TrimConfig config{.frame_samples = 1024, .hop_samples = 256};
  std::vector<float> shared;
  levels_of(samples, config, shared);
  std::vector<float> one_by_one(shared.size());
  float loudest = 0.0F;
  for (std::size_t f = 0; f < shared.size(); ++f) {
    std::vector<float> frame(1024, 0.0F);
    for (std::size_t i = 0; i < 1024; ++i) {
      const std::size_t at = f * 256 + i;
      if (at >= 512 && at - 512 < samples.size()) frame[i] = samples[at - 512];
    }
    one_by_one[f] = std::sqrt(pairwise_energy(frame) / 1024.0F);
    loudest = std::max(loudest, one_by_one[f]);
  }
  for (std::size_t f = 0; f < shared.size(); ++f) {
    const float power = one_by_one[f] * one_by_one[f];
    EXPECT_EQ(shared[f], 10.0F * std::log10(power) - 10.0F * std::log10(loudest * loudest)) << f;
  }
}

TEST(Trim, KeepsEverythingOfSilenceBecauseAllFramesAreEqual) {
  std::vector<float> levels_db;
  levels_of(std::vector<float>(3000, 0.0F), {}, levels_db);
  const SampleRange range = trim_range(levels_db, 3000, {});
  EXPECT_EQ(range.begin, 0U);
  EXPECT_EQ(range.end, 3000U);
}

TEST(Trim, CutsFromTheFirstLoudFrameToOnePastTheLast) {
  const std::vector<float> levels_db = {-50.0F, -20.0F, -19.0F, -60.0F, 0.0F, -21.0F};
  const SampleRange range = trim_range(levels_db, 1400, {.top_db = 20.0, .hop_samples = 256});
  EXPECT_EQ(range.begin, 2U * 256U);  // at the threshold itself is silence
  EXPECT_EQ(range.end, 5U * 256U);
  EXPECT_EQ(trim_range(levels_db, 1100, {.top_db = 20.0, .hop_samples = 256}).end, 1100U);
}

TEST(Trim, CountsFramesFortyDecibelsDownAsSilence) {
  const std::vector<float> levels_db = {0.0F, -39.0F, -40.0F, -40.5F};
  EXPECT_EQ(silence_share(levels_db), 0.25F);
  EXPECT_EQ(silence_share({}), 0.0F);
}

}  // namespace
}  // namespace xtts::dsp
