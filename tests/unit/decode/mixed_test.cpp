// decode_mixed and SampleResampler: together they are decode(), in two steps.
#include <gtest/gtest.h>

#include "decode/resample.hpp"
#include "support.hpp"

namespace xtts::decode::test {
namespace {

Result<Decoded> decode_in_pieces(const Bytes& bytes) {
  const MemoryFile file(bytes);
  Decoded decoded;
  auto facts = make_libav_decoder()->decode_mixed(
      file, DecodeRequest(), [&](std::span<const float> piece) {
        decoded.samples.insert(decoded.samples.end(), piece.begin(), piece.end());
        return Status();
      });
  if (!facts) return facts.status();
  decoded.facts = std::move(*facts);
  return decoded;
}

std::vector<std::int16_t> ramp(std::size_t count) {
  std::vector<std::int16_t> samples(count);
  std::uint32_t state = 1;
  for (auto& sample : samples) {
    state = state * 1664525U + 1013904223U;
    sample = static_cast<std::int16_t>(state >> 17U);
  }
  return samples;
}

// Longer than what is handed over at once, so that there are several pieces.
TEST(DecodeMixed, GivesWhatDecodeGivesAtTheSourcesRate) {
  for (const std::uint32_t channels : {1U, 2U}) {
    const Bytes bytes = wav_of(WavKind::kInteger, 44100, channels, ramp(300'000 * channels));
    const auto whole = decode_bytes(bytes, at_rate(44100));
    const auto pieces = decode_in_pieces(bytes);
    ASSERT_TRUE(whole.ok() && pieces.ok());
    EXPECT_EQ(pieces->samples, whole->samples);
    EXPECT_EQ(pieces->facts.sample_rate_hz, 44100U);
    EXPECT_EQ(pieces->facts.frame_count, 300'000U);
    EXPECT_EQ(pieces->facts.pcm_digest, whole->facts.pcm_digest);
  }
}

TEST(DecodeMixed, ReturnsTheFailureOfWhoTakes) {
  const MemoryFile file(wav_of(WavKind::kInteger, 22050, 1, ramp(300'000)));
  int calls = 0;
  const auto facts = make_libav_decoder()->decode_mixed(
      file, DecodeRequest(), [&](std::span<const float>) {
        ++calls;
        return Status(StatusCode::kResource, "no room");
      });
  EXPECT_EQ(facts.status().code(), StatusCode::kResource);
  EXPECT_EQ(calls, 1);
}

TEST(DecodeMixed, ADecoderIsReadyForTheNextFileOfEitherKind) {
  const Bytes bytes = wav_of(WavKind::kInteger, 16000, 1, ramp(20'000));
  const auto decoder = make_libav_decoder();
  std::vector<float> first;
  ASSERT_TRUE(decoder->decode(MemoryFile(bytes), at_rate(22050), first).ok());
  std::size_t taken = 0;
  ASSERT_TRUE(decoder
                  ->decode_mixed(MemoryFile(bytes), DecodeRequest(),
                                 [&](std::span<const float> piece) {
                                   taken += piece.size();
                                   return Status();
                                 })
                  .ok());
  EXPECT_EQ(taken, 20'000U);
  std::vector<float> again;
  ASSERT_TRUE(decoder->decode(MemoryFile(bytes), at_rate(22050), again).ok());
  EXPECT_EQ(again, first);
}

TEST(SampleResampler, GivesWhatDecodingToThatRateGives) {
  SampleResampler resampler;
  for (const std::uint32_t rate_hz : {16000U, 22050U, 44100U, 48000U}) {
    for (const std::size_t count : {1UL, 700UL, 600'000UL}) {
      const Bytes bytes = wav_of(WavKind::kInteger, rate_hz, 1, ramp(count));
      const auto mixed = decode_in_pieces(bytes);
      const auto expected = decode_bytes(bytes, at_rate(22050));
      ASSERT_TRUE(mixed.ok() && expected.ok());
      std::vector<float> samples;
      ASSERT_TRUE(resampler.apply(mixed->samples, rate_hz, 22050, "soxr_hq", samples).ok());
      EXPECT_EQ(samples, expected->samples) << rate_hz << " Hz, " << count << " samples";
    }
  }
}

TEST(SampleResampler, RefusesWhatTheDecoderRefuses) {
  std::vector<float> out;
  const std::vector<float> in(10, 0.5F);
  EXPECT_EQ(SampleResampler().apply(in, 16000, 22050, "soxr_lq", out).code(),
            StatusCode::kUnsupported);
}

}  // namespace
}  // namespace xtts::decode::test
