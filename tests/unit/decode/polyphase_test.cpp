// The polyphase filters against the formula of their header, and against properties that any
// resampler has.

#include "audio/polyphase.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "decode_support.hpp"

namespace xtts::audio {
namespace {

using Filter = PolyphaseFilter (*)(std::uint32_t, std::uint32_t);

std::vector<float> some_sound(std::size_t count) {
  std::vector<float> sound;
  for (const std::int16_t sample : decode::test::noise(count))
    sound.push_back(static_cast<float>(sample) * 1.1e-5F);
  return sound;
}

// Cuts the signal into pieces of `piece_length`, of which each is larger by one than the last.
std::vector<float> resample(const PolyphaseFilter& filter, std::span<const float> sound,
                            std::size_t piece_length) {
  PolyphaseResampler resampler;
  resampler.set_filter(filter);
  OutputSamples out;
  while (!sound.empty()) {
    const auto piece = sound.first(std::min(piece_length++, sound.size()));
    sound = sound.subspan(piece.size());
    resampler.push(piece, out);
  }
  const std::uint64_t length = resampler.finish(out);
  EXPECT_EQ(out.length(), length);
  EXPECT_EQ(length, length_through(filter, 3001));
  return {out.held().begin(), out.held().end()};
}

// The sum of the header, for a signal between zeros, in its order.
float formula(const PolyphaseFilter& filter, std::span<const float> sound, std::uint64_t output) {
  const std::uint64_t row = output % filter.to;
  const std::int64_t first =
      static_cast<std::int64_t>(output / filter.to * filter.from) + filter.first[row];
  std::array<double, 8> sums = {};
  for (std::size_t i = 0; i < filter.tap_count; ++i) {
    const std::int64_t index = first + static_cast<std::int64_t>(i);
    if (index < 0 || index >= static_cast<std::int64_t>(sound.size())) continue;
    sums[i % 8] += static_cast<double>(filter.taps[row * filter.tap_count + i]) *
                   static_cast<double>(sound[static_cast<std::size_t>(index)]);
  }
  return static_cast<float>(((sums[0] + sums[1]) + (sums[2] + sums[3])) +
                            ((sums[4] + sums[5]) + (sums[6] + sums[7])));
}

TEST(Polyphase, GivesTheSumsOfItsFormulaBitForBit) {
  const auto sound = some_sound(3001);
  for (const auto& [from, to] :
       {std::pair(22050U, 24000U), {44100U, 16000U}, {16000U, 44100U}, {22051U, 24000U}}) {
    const PolyphaseFilter filter = torchaudio_filter(from, to);
    const auto resampled = resample(filter, sound, 700);
    for (std::uint64_t i = 0; i < resampled.size(); ++i)
      ASSERT_EQ(resampled[i], formula(filter, sound, i)) << from << " to " << to << " at " << i;
  }
}

TEST(Polyphase, GivesTheSameBitsForAnyPieces) {
  const auto sound = some_sound(3001);
  for (const Filter filter_of : {torchaudio_filter, swresample_filter}) {
    for (const auto& [from, to] : {std::pair(22050U, 24000U), {48000U, 16000U}}) {
      const PolyphaseFilter filter = filter_of(from, to);
      const auto whole = resample(filter, sound, 3001);
      for (const std::size_t piece : {1U, 7U, 500U})
        EXPECT_EQ(resample(filter, sound, piece), whole) << from << " to " << to;
    }
  }
}

// Sums of taps differ a little: by 2e-3 of the sound in torchaudio's filter, by some steps of 16
// bits in ffmpeg's, which mirrors the sound at its ends.
TEST(Polyphase, KeepsConstantSound) {
  const std::vector<float> sound(3001, 0.25F);
  for (const auto& [from, to] : {std::pair(22050U, 24000U), {44100U, 16000U}}) {
    const auto torchaudios = resample(torchaudio_filter(from, to), sound, 3001);
    for (std::size_t i = 30; i + 30 < torchaudios.size(); ++i)
      ASSERT_NEAR(torchaudios[i], 0.25F, 4e-4F) << i;
    for (const float sample : resample(swresample_filter(from, to), sound, 3001))
      ASSERT_NEAR(sample, 0.25F, 3.1F / 32768.0F);
  }
}

// A sine below both Nyquist frequencies keeps its frequency, phase and level.
TEST(Polyphase, KeepsASine) {
  const auto sine = [](double rate_hz, std::size_t count) {
    std::vector<float> samples(count);
    for (std::size_t i = 0; i < count; ++i)
      samples[i] = static_cast<float>(
          0.5 * std::sin(2.0 * std::numbers::pi * 1234.5 * static_cast<double>(i) / rate_hz));
    return samples;
  };
  for (const Filter filter_of : {torchaudio_filter, swresample_filter}) {
    for (const auto& [from, to] : {std::pair(22050U, 24000U), {48000U, 16000U}, {16000U, 22050U}}) {
      const auto resampled = resample(filter_of(from, to), sine(from, 3001), 3001);
      const auto expected = sine(to, resampled.size());
      for (std::size_t i = 60; i + 60 < resampled.size(); ++i)
        ASSERT_NEAR(resampled[i], expected[i], 1e-3F) << from << " to " << to << " at " << i;
    }
  }
}

// torchaudio 2.6.0 gives these lengths: it rounds to float32 before it rounds up.
TEST(Polyphase, HasTorchaudiosLengths) {
  const auto length = [](std::uint32_t from, std::uint32_t to, std::uint64_t count) {
    return length_through(torchaudio_filter(from, to), count);
  };
  EXPECT_EQ(length(22050, 24000, 120427), 131077U);
  EXPECT_EQ(length(22050, 24000, 120574), 131237U);
  EXPECT_EQ(length(22050, 24000, 100001), 108845U);
  EXPECT_EQ(length(44100, 22050, 100001), 50001U);
  EXPECT_EQ(length(48000, 22050, 142683), 65545U);
  EXPECT_EQ(length(48000, 22050, 143003), 65692U);
  EXPECT_EQ(length(48000, 22050, 100001), 45938U);
  EXPECT_EQ(length(22050, 24000, 40000001), 43537416U);
}

// ffmpeg 5.1.9 gives these lengths: `-ar 16000` of clips of 16 bits.
TEST(Polyphase, HasFfmpegsLengths) {
  const auto length = [](std::uint32_t from, std::uint64_t count) {
    return length_through(swresample_filter(from, 16000), count);
  };
  EXPECT_EQ(length(48000, 700), 233U);
  EXPECT_EQ(length(48000, 701), 234U);
  EXPECT_EQ(length(48000, 1000), 333U);
  EXPECT_EQ(length(44100, 701), 255U);
  EXPECT_EQ(length(44100, 703), 255U);
  EXPECT_EQ(length(44100, 1001), 363U);
  EXPECT_EQ(length(44100, 70001), 25397U);
  EXPECT_EQ(length(16000, 701), 701U);
}

TEST(Polyphase, TakesASignalOfAnyLength) {
  for (const Filter filter_of : {torchaudio_filter, swresample_filter}) {
    PolyphaseResampler resampler;
    resampler.set_filter(filter_of(48000, 16000));
    for (std::size_t count = 0; count < 130; ++count) {
      OutputSamples out;
      resampler.begin();
      resampler.push(std::vector<float>(count, 0.5F), out);
      const std::uint64_t length = resampler.finish(out);
      EXPECT_EQ(out.length(), length);
      EXPECT_NEAR(static_cast<double>(out.length()), static_cast<double>(count) / 3.0, 1.0);
    }
  }
}

}  // namespace
}  // namespace xtts::audio
