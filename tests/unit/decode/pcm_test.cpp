// Uncompressed files: every sample is known on paper.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "decode_support.hpp"

namespace xtts::decode::test {
namespace {

TEST(Pcm, SixteenBitSamplesAreTheIntegerOver32768) {
  const std::vector<std::int16_t> source{0, 1, -1, 12345, -12345, 32766, 32767, -32768};
  const auto decoded = decode_bytes(wav_of(WavKind::kInteger, 22050, 1, source), at_rate(22050));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  ASSERT_EQ(decoded->samples.size(), source.size());
  for (std::size_t i = 0; i < source.size(); ++i)
    EXPECT_EQ(decoded->samples[i], source[i] / 32768.0F);
  EXPECT_EQ(decoded->facts.container, "wav");
  EXPECT_EQ(decoded->facts.codec, "pcm_s16le");
  EXPECT_EQ(decoded->facts.sample_rate_hz, 22050U);
  EXPECT_EQ(decoded->facts.channel_count, 1U);
  EXPECT_EQ(decoded->facts.frame_count, source.size());
  EXPECT_EQ(decoded->facts.clipped_sample_count, 2U);  // 32767 and -32768
  EXPECT_TRUE(decoded->facts.warnings.empty());
}

TEST(Pcm, EightBitSamplesAreCentredOn128) {
  const std::vector<std::uint8_t> source{0, 1, 127, 128, 129, 255};
  const auto decoded = decode_bytes(wav_of(WavKind::kInteger, 8000, 1, source), at_rate(8000));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->samples, (std::vector<float>{-1.0F, -127 / 128.0F, -1 / 128.0F, 0.0F,
                                                  1 / 128.0F, 127 / 128.0F}));
  EXPECT_EQ(decoded->facts.clipped_sample_count,
            3U);  // 0 and 1 lie at or beyond -127/128, 255 at 127/128
}

TEST(Pcm, TwentyFourBitSamplesAreExact) {
  const std::vector<std::uint8_t> source{0x00, 0x00, 0x80, 0x01, 0x00, 0x00,
                                         0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F};
  const auto decoded = decode_bytes(
      wav(WavKind::kInteger, 24, 44100, 1, std::as_bytes(std::span(source))), at_rate(44100));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->samples,
            (std::vector<float>{-1.0F, 0x1p-23F, -0x1p-23F, 4194303 / 8388608.0F}));
}

TEST(Pcm, ThirtyTwoBitSamplesAreRoundedToNearest) {
  const std::vector<std::int32_t> source{std::numeric_limits<std::int32_t>::min(), 1 << 20,
                                         123456789, -7};
  const auto decoded = decode_bytes(wav_of(WavKind::kInteger, 44100, 1, source), at_rate(44100));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  ASSERT_EQ(decoded->samples.size(), source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    EXPECT_EQ(decoded->samples[i], static_cast<float>(source[i] / 2147483648.0));
  }
}

TEST(Pcm, FloatsPassThroughBitForBit) {
  const std::vector<float> source{0.0F, -0.0F, 0.1F, -0.999F, 1.5F, 1e-30F};
  const auto decoded = decode_bytes(wav_of(WavKind::kFloat, 48000, 1, source), at_rate(48000));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->samples, source);
  EXPECT_EQ(decoded->facts.clipped_sample_count, 1U);
  EXPECT_EQ(decoded->facts.pcm_digest, digest128(std::as_bytes(std::span(source))));
}

TEST(Pcm, DoublesAreRoundedToNearest) {
  const std::vector<double> source{0.1, -0.3, 1.0 / 3.0};
  const auto decoded = decode_bytes(wav_of(WavKind::kFloat, 48000, 1, source), at_rate(48000));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->samples, (std::vector<float>{0.1F, -0.3F, 1.0F / 3.0F}));
}

TEST(Pcm, StereoIsTheMeanOrTheFirstChannel) {
  const std::vector<std::int16_t> source{100, 201, -32768, -32768, 7, -7, 32767, 0};
  const Bytes file = wav_of(WavKind::kInteger, 22050, 2, source);
  audio::DecodeRequest request = at_rate(22050);
  const auto mean = decode_bytes(file, request);
  request.mix = audio::Mix::kFirst;
  const auto first = decode_bytes(file, request);
  ASSERT_TRUE(mean.ok() && first.ok());
  EXPECT_EQ(mean->samples, (std::vector<float>{150.5F / 32768, -1.0F, 0.0F, 16383.5F / 32768}));
  EXPECT_EQ(first->samples,
            (std::vector<float>{100.0F / 32768, -1.0F, 7.0F / 32768, 32767.0F / 32768}));
  for (const auto* decoded : {&*mean, &*first}) {
    EXPECT_EQ(decoded->facts.channel_count, 2U);
    EXPECT_EQ(decoded->facts.frame_count, 4U);
    EXPECT_EQ(decoded->facts.clipped_sample_count, 3U);  // of both channels, whichever is taken
  }
}

TEST(Pcm, ChannelsInOppositePhaseGiveSilenceAndKeepTheirFacts) {
  const std::vector<std::int16_t> source{32767, -32767, -5, 5};
  const auto decoded = decode_bytes(wav_of(WavKind::kInteger, 22050, 2, source), at_rate(22050));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->samples, (std::vector<float>{0.0F, 0.0F}));
  EXPECT_EQ(decoded->facts.clipped_sample_count, 2U);
}

TEST(Pcm, NonFiniteSamplesAreCountedAndBecomeZero) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::vector<float> source{0.5F, std::nanf(""), kInf, -kInf, 3e38F, 0.25F};
  const auto decoded = decode_bytes(wav_of(WavKind::kFloat, 22050, 1, source), at_rate(22050));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->samples, (std::vector<float>{0.5F, 0, 0, 0, 0, 0.25F}));
  EXPECT_EQ(decoded->facts.nonfinite_sample_count, 4U);
  EXPECT_EQ(decoded->facts.clipped_sample_count, 0U);
}

TEST(Pcm, OnlyNonFiniteSamplesAreNoSound) {
  const std::vector<float> source(100, std::nanf(""));
  const auto decoded = decode_bytes(wav_of(WavKind::kFloat, 22050, 1, source), at_rate(22050));
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.status().code(), StatusCode::kBadInput);
}

TEST(Pcm, TheDigestIsOfTheSourceNotOfTheResampledSound) {
  const Bytes file = wav_of(WavKind::kInteger, 44100, 1, noise(5000));
  const auto slow = decode_bytes(file, at_rate(22050));
  const auto same = decode_bytes(file, at_rate(44100));
  ASSERT_TRUE(slow.ok() && same.ok());
  EXPECT_EQ(slow->facts.pcm_digest, same->facts.pcm_digest);
  EXPECT_EQ(same->facts.pcm_digest, digest128(std::as_bytes(std::span(same->samples))));
}

}  // namespace
}  // namespace xtts::decode::test
