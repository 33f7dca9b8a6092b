// Sound that FFmpeg opens and reads wrongly is refused by its header. Where libsndfile is at hand,
// sndfile_test.cpp has all of it; these headers are made by hand.

#include <gtest/gtest.h>

#include "decode_support.hpp"

namespace xtts::decode::test {
namespace {

// Places in the header that wav() makes.
constexpr std::size_t kFormatAt = 20;
constexpr std::size_t kBitsAt = 34;

Bytes wav_with(std::size_t at, unsigned value) {
  std::vector<std::int32_t> samples;
  for (const std::int16_t sample : noise(3000)) samples.push_back(sample * 65536);
  Bytes bytes = wav_of(WavKind::kInteger, 16000, 1, samples);
  bytes[at] = static_cast<std::byte>(value);
  return bytes;
}

std::string refusal_of(const Bytes& bytes) {
  const auto decoded = decode_bytes(bytes, at_rate(0));
  EXPECT_TRUE(decoded.ok() || decoded.status().code() == StatusCode::kBadInput);
  return decoded.ok() ? "" : decoded.status().message();
}

TEST(Misread, AWavOfUsualSamplesIsNot) {
  EXPECT_EQ(refusal_of(wav_with(kBitsAt, 32)), "");
}

TEST(Misread, ARefusalNamesTheFormatAndTheCommand) {
  EXPECT_EQ(refusal_of(wav_with(3, 'X')),
            "is sound that FFmpeg reads wrongly (RIFX, a WAV whose numbers are big-endian): "
            "convert it with `sndfile-convert -pcm32 FILE NEW.wav`");
}

TEST(Misread, SamplesInMoreBytesThanTheyNeed) {
  for (const unsigned bits : {24U, 20U, 16U, 8U})
    EXPECT_NE(refusal_of(wav_with(kBitsAt, bits)).find("samples with padding"), std::string::npos)
        << bits << " bits in 32";
}

// A block of one channel of 4 bits takes a whole byte.
TEST(Misread, ABlockOfAdpcmIsNoPadding) {
  constexpr unsigned kYamaha = 0x20;
  Bytes bytes = wav_with(kFormatAt, kYamaha);
  bytes[kBitsAt] = std::byte{4};
  EXPECT_EQ(refusal_of(bytes), "");
}

TEST(Misread, CodecsBehindNumbersThatMeanOthers) {
  EXPECT_NE(refusal_of(wav_with(kFormatAt, 0x40)).find("(G.721)"), std::string::npos);
  EXPECT_NE(refusal_of(wav_with(kFormatAt, 0x38)).find("(NMS ADPCM)"), std::string::npos);
  EXPECT_NE(refusal_of(wav_with(kFormatAt, 0xFF)).find("AAC, Speex or Vorbis"), std::string::npos);
  Bytes speex = wav_with(kFormatAt, 0x09);
  speex[kFormatAt + 1] = std::byte{0xA1};
  EXPECT_NE(refusal_of(speex).find("AAC, Speex or Vorbis"), std::string::npos);
}

}  // namespace
}  // namespace xtts::decode::test
