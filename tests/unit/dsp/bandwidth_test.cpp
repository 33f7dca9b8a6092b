#include "dsp/bandwidth.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace xtts::dsp {
namespace {

constexpr std::uint32_t kRateHz = 22050;
constexpr float kBinHz = 22050.0F / 1024.0F;

std::optional<float> bandwidth_of(const std::vector<float>& samples) {
  auto meter = BandwidthMeter::create(kRateHz);
  EXPECT_TRUE(meter.ok());
  MemoryReader reader(samples);
  const auto measured = meter->measure(reader, 0, samples.size());
  EXPECT_TRUE(measured.ok());
  return *measured;
}

void add_tone(std::vector<float>& samples, double hz, double amplitude) {
  for (std::size_t n = 0; n < samples.size(); ++n) {
    samples[n] += static_cast<float>(
        amplitude * std::sin(2.0 * std::numbers::pi * hz * static_cast<double>(n) / kRateHz));
  }
}

TEST(Bandwidth, IsThatOfTheHighestTone) {
  for (const double hz : {3400.0, 7900.0, 10500.0}) {
    std::vector<float> samples(50'000);
    add_tone(samples, 200.0, 0.5);
    add_tone(samples, hz, 0.01);  // 34 dB under the other
    const auto measured = bandwidth_of(samples);
    ASSERT_TRUE(measured);
    EXPECT_NEAR(*measured, hz, 5 * kBinHz)
        << hz;  // the window's main lobe, and its first side lobes
  }
}

TEST(Bandwidth, PassesOverWhatIsFarUnderTheLoudest) {
  std::vector<float> samples(50'000);
  add_tone(samples, 1000.0, 0.5);
  add_tone(samples, 9000.0, 0.5e-5);  // 100 dB under it
  const auto measured = bandwidth_of(samples);
  ASSERT_TRUE(measured);
  EXPECT_LT(*measured, 2000.0F);
}

TEST(Bandwidth, OfNoiseIsAllThereIs) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.0F, 0.1F);
  std::vector<float> samples(30'000);
  for (float& sample : samples) sample = normal(random);
  EXPECT_EQ(bandwidth_of(samples), 11025.0F);
}

TEST(Bandwidth, IsNotStatedOfSilenceNorOfLessThanAWindow) {
  EXPECT_EQ(bandwidth_of(std::vector<float>(5000, 0.0F)), std::nullopt);
  EXPECT_EQ(bandwidth_of(std::vector<float>(1023, 0.5F)), std::nullopt);
  EXPECT_NE(bandwidth_of(std::vector<float>(1024, 0.5F)), std::nullopt);
  EXPECT_EQ(bandwidth_of({}), std::nullopt);
}

}  // namespace
}  // namespace xtts::dsp
