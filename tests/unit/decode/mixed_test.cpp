// Sound in pieces, at the source's rate or at another; and SampleResampler, which makes the one of
// the other.
#include <gtest/gtest.h>

#include <algorithm>

#include "audio/sample_resampler.hpp"
#include "decode/libav_decoder.hpp"
#include "decode_support.hpp"

namespace xtts::decode::test {
namespace {

// Not at any rate but the source's own.
audio::DecodeRequest at_own_rate() {
  return at_rate(0);
}

struct Pieces {
  std::vector<float> samples;
  std::size_t count = 0;
  std::size_t longest = 0;

  audio::TakeSamples take() {
    return [this](std::span<const float> piece) {
      samples.insert(samples.end(), piece.begin(), piece.end());
      longest = std::max(longest, piece.size());
      ++count;
      return Status();
    };
  }
};

std::vector<std::int16_t> ramp(std::size_t count) {
  std::vector<std::int16_t> samples(count);
  std::uint32_t state = 1;
  for (auto& sample : samples) {
    state = state * 1664525U + 1013904223U;
    sample = static_cast<std::int16_t>(state >> 17U);
  }
  return samples;
}

TEST(Pieces, AreAsLargeForALongSourceAsForAShortOne) {
  for (const std::uint32_t rate_hz : {22050U, 0U}) {
    const MemoryFile file(wav_of(WavKind::kInteger, 44100, 1, ramp(2'000'000)));
    Pieces pieces;
    ASSERT_TRUE(make_libav_decoder()->decode(file, at_rate(rate_hz), pieces.take()).ok());
    EXPECT_EQ(pieces.samples.size(), rate_hz == 0 ? 2'000'000U : 1'000'000U);
    EXPECT_LT(pieces.longest, 80'000U);
    EXPECT_GT(pieces.count, 10U);
  }
}

TEST(Pieces, HaveTheSourcesRateWhereNoneIsAskedFor) {
  for (const std::uint32_t channels : {1U, 2U}) {
    const Bytes bytes = wav_of(WavKind::kInteger, 44100, channels, ramp(300'000 * channels));
    const auto asked = decode_bytes(bytes, at_rate(44100));
    const auto own = decode_bytes(bytes, at_own_rate());
    ASSERT_TRUE(asked.ok() && own.ok());
    EXPECT_EQ(own->samples, asked->samples);
    EXPECT_EQ(own->facts.sample_rate_hz, 44100U);
    EXPECT_EQ(own->facts.frame_count, 300'000U);
    EXPECT_EQ(own->facts.pcm_digest, asked->facts.pcm_digest);
  }
}

TEST(Pieces, TheFailureOfWhoTakesThemEndsTheDecoding) {
  const MemoryFile file(wav_of(WavKind::kInteger, 22050, 1, ramp(300'000)));
  const auto decoder = make_libav_decoder();
  int calls = 0;
  const auto facts = decoder->decode(file, at_own_rate(), [&](std::span<const float>) {
    ++calls;
    return Status(StatusCode::kResource, "no room");
  });
  EXPECT_EQ(facts.status().code(), StatusCode::kResource);
  EXPECT_EQ(calls, 1);
  Pieces pieces;
  ASSERT_TRUE(decoder->decode(file, at_own_rate(), pieces.take()).ok());  // ready again
  EXPECT_EQ(pieces.samples.size(), 300'000U);
}

class EachResampler : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(SampleResampler, EachResampler,
                         testing::Values("soxr_hq", "torchaudio_sinc", "ffmpeg_swr"));

TEST_P(EachResampler, GivesWhatDecodingToThatRateGives) {
  audio::SampleResampler resampler;
  for (const std::uint32_t rate_hz : {16000U, 22050U, 44100U, 48000U}) {
    for (const std::size_t count : {1UL, 700UL, 600'000UL}) {
      const Bytes bytes = wav_of(WavKind::kInteger, rate_hz, 1, ramp(count));
      const auto own = decode_bytes(bytes, at_own_rate());
      audio::DecodeRequest to_that_rate = at_rate(22050);
      to_that_rate.resampler = GetParam();
      const auto expected = decode_bytes(bytes, to_that_rate);
      ASSERT_TRUE(own.ok() && expected.ok());
      Pieces pieces;
      ASSERT_TRUE(resampler.begin(rate_hz, 22050, GetParam()).ok());
      for (std::span<const float> rest(own->samples); !rest.empty();) {
        const auto piece = rest.first(std::min<std::size_t>(rest.size(), 50'001));
        rest = rest.subspan(piece.size());
        ASSERT_TRUE(resampler.push(piece, pieces.take()).ok());
      }
      ASSERT_TRUE(resampler.finish(pieces.take()).ok());
      EXPECT_EQ(pieces.samples, expected->samples) << rate_hz << " Hz, " << count << " samples";
    }
  }
}

TEST(SampleResampler, RefusesWhatTheDecoderRefuses) {
  EXPECT_EQ(audio::SampleResampler().begin(16000, 22050, "sinc").code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace xtts::decode::test
