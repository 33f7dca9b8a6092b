#include "dsp/lufs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace xtts::dsp {
namespace {

constexpr std::uint32_t kRates[] = {16000, 22050, 24000, 44100, 48000};

std::optional<double> lufs_of(const std::vector<float>& samples, std::uint32_t rate_hz) {
  MemoryReader reader(samples);
  const auto lufs = measure_lufs(reader, 0, samples.size(), rate_hz);
  EXPECT_TRUE(lufs.ok());
  return *lufs;
}

void add_sine(std::vector<float>& samples, double hz, double dbfs, double seconds,
              std::uint32_t rate_hz) {
  const double peak = std::pow(10.0, dbfs / 20.0);
  const auto count = static_cast<std::size_t>(seconds * rate_hz);
  for (std::size_t i = 0; i < count; ++i) {
    const double phase = 2.0 * std::numbers::pi * hz * static_cast<double>(i) / rate_hz;
    samples.push_back(static_cast<float>(peak * std::sin(phase)));
  }
}

// BS.1770: "if a 0 dB FS 1 kHz (997 Hz) sine wave is applied to the left ... the indicated loudness
// will equal -3.01 LKFS".
TEST(Lufs, OfTheStandardsSineAtAnyRate) {
  for (const std::uint32_t rate_hz : kRates) {
    std::vector<float> samples;
    add_sine(samples, 997.0, 0.0, 5.0, rate_hz);
    // At low rates the bilinear transform bends the shelf: 0.04 LU at 16 kHz; EBU Tech 3341 allows
    // 0.1.
    EXPECT_NEAR(*lufs_of(samples, rate_hz), -3.01, rate_hz < 44100 ? 0.05 : 0.01) << rate_hz;
  }
}

// EBU Tech 3341, test signals 3 and 4, in one channel, which is 3.01 dB lower: levels that both
// gates leave out do not count.
TEST(Lufs, GatesLeaveQuietPartsOut) {
  const std::uint32_t rate_hz = 48000;
  std::vector<float> samples;
  add_sine(samples, 1000.0, -36.0, 10.0, rate_hz);
  add_sine(samples, 1000.0, -23.0, 60.0, rate_hz);
  add_sine(samples, 1000.0, -36.0, 10.0, rate_hz);
  EXPECT_NEAR(*lufs_of(samples, rate_hz), -26.01, 0.1);
  std::vector<float> with_silence;
  add_sine(with_silence, 1000.0, -72.0, 10.0, rate_hz);
  with_silence.insert(with_silence.end(), samples.begin(), samples.end());
  add_sine(with_silence, 1000.0, -72.0, 10.0, rate_hz);
  EXPECT_NEAR(*lufs_of(with_silence, rate_hz), -26.01, 0.1);
}

// Noise of 3.33 s, softer by 34 dB in the first half second of each one and a half.
std::vector<float> noise(std::uint32_t rate_hz) {
  std::uint64_t state = 1;
  std::vector<float> samples(3 * rate_hz + rate_hz / 3);
  for (std::size_t n = 0; n < samples.size(); ++n) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const double value = static_cast<double>(state >> 33U) / 1073741824.0 - 1.0;
    samples[n] = static_cast<float>(value * 0.25 * ((n / (rate_hz / 2)) % 3 != 0 ? 1.0 : 0.02));
  }
  return samples;
}

// ebur128_loudness_global() of libebur128 1.2.6 on the same samples.
TEST(Lufs, OfNoiseIsLibebur128s) {
  constexpr double kExpected[] = {-15.187184776, -15.058658446, -15.021118030, -14.841052719,
                                  -14.826008681};
  for (std::size_t i = 0; i < std::size(kRates); ++i)
    EXPECT_NEAR(*lufs_of(noise(kRates[i]), kRates[i]), kExpected[i], 1e-8) << kRates[i];
}

// ebur128_loudness_global() of libebur128 1.2.6 on the first 400 ms: one block.
TEST(Lufs, OfOneBlockIsLibebur128s) {
  std::vector<float> samples = noise(22050);
  samples.resize(22050 * 4 / 10);
  EXPECT_NEAR(*lufs_of(samples, 22050), -47.907829879, 1e-8);
}

// pyloudnorm 0.2 on the same samples. Its filters differ a little: at the standard's sine it is
// 0.05 to 0.07 lower.
TEST(Lufs, OfNoiseIsNearPyloudnorms) {
  constexpr double kExpected[] = {-15.312, -15.151, -15.106, -14.888, -14.869};
  for (std::size_t i = 0; i < std::size(kRates); ++i)
    EXPECT_NEAR(*lufs_of(noise(kRates[i]), kRates[i]), kExpected[i], 0.13) << kRates[i];
}

TEST(Lufs, OfAClipShorterThanABlockIsThatOfTheClip) {
  std::vector<float> samples;
  add_sine(samples, 997.0, -20.0, 0.2, 22050);
  EXPECT_NEAR(*lufs_of(samples, 22050), -23.01, 0.2);
}

TEST(Lufs, OfSilenceThereIsNone) {
  EXPECT_FALSE(lufs_of(std::vector<float>(30000), 22050));
  EXPECT_FALSE(lufs_of(std::vector<float>(30), 22050));
  EXPECT_FALSE(lufs_of({}, 22050));
}

}  // namespace
}  // namespace xtts::dsp
