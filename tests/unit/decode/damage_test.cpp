// Sources that lie, stop early or fail: each is rejected with its own code, or decoded with a
// warning, never silence.

#include <gtest/gtest.h>

#include <random>

#include "decode/libav_decoder.hpp"
#include "decode_support.hpp"

namespace xtts::decode::test {
namespace {

const char* const kFixtures[] = {"sweep_22050_1.flac", "sweep_22050_1.mp3",  "sweep_22050_1.ogg",
                                 "sweep_22050_1.m4a",  "sweep_48000_1.opus", "sweep_44100_1.ts",
                                 "sweep_44100_1.aac"};

Bytes plain_wav(std::size_t count) {
  return wav_of(WavKind::kInteger, 22050, 1, noise(count));
}

StatusCode code_of(const Bytes& bytes) {
  return decode_bytes(bytes, audio::DecodeRequest()).status().code();
}

void set(Bytes& bytes, std::size_t offset, std::uint32_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    bytes[offset + i] = static_cast<std::byte>(value >> (8 * i));
}

TEST(Damage, WhatIsNoSoundIsRejected) {
  EXPECT_EQ(code_of({}), StatusCode::kBadInput);
  EXPECT_EQ(code_of(bytes_of("\0")), StatusCode::kBadInput);
  EXPECT_EQ(code_of(bytes_of("It was the best of times, it was the worst of times.\n")),
            StatusCode::kBadInput);
  EXPECT_EQ(code_of(bytes_of("RIFF\x04\x00\x00\x00WAVE")), StatusCode::kBadInput);
  EXPECT_EQ(code_of(bytes_of(std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16))),
            StatusCode::kBadInput);
}

TEST(Damage, RandomBytesAreRejected) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 generator(seed);
    Bytes bytes(8192);
    for (auto& byte : bytes) byte = static_cast<std::byte>(generator());
    EXPECT_EQ(code_of(bytes), StatusCode::kBadInput) << "seed " << seed;
  }
}

// The files named in the playlists exist and would decode.
TEST(Damage, PlaylistsOpenNothing) {
  const std::string target =
      std::string(XTTS_SOURCE_DIR) + "/tests/unit/decode/data/sweep_22050_1.flac";
  EXPECT_EQ(code_of(bytes_of("ffconcat version 1.0\nfile '" + target + "'\n")),
            StatusCode::kBadInput);
  EXPECT_EQ(code_of(bytes_of("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n" + target +
                             "\n#EXT-X-ENDLIST\n")),
            StatusCode::kBadInput);
  EXPECT_EQ(code_of(bytes_of("[playlist]\nFile1=" + target + "\n")), StatusCode::kBadInput);
}

TEST(Damage, AHeaderWithoutSamplesIsRejectedWithAReason) {
  const auto decoded = decode_bytes(plain_wav(0), audio::DecodeRequest());
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.status().code(), StatusCode::kBadInput);
  EXPECT_NE(decoded.status().message().find("no sound"), std::string::npos)
      << decoded.status().message();
}

TEST(Damage, AbsurdParametersAreRejected) {
  Bytes rate_zero = plain_wav(100);
  set(rate_zero, 24, 0, 4);
  EXPECT_EQ(code_of(rate_zero), StatusCode::kBadInput);
  Bytes rate_huge = plain_wav(100);
  set(rate_huge, 24, 768'001, 4);
  EXPECT_EQ(code_of(rate_huge), StatusCode::kBadInput);
  Bytes many_channels = plain_wav(1000);
  set(many_channels, 22, 65, 2);
  set(many_channels, 32, 130, 2);
  EXPECT_EQ(code_of(many_channels), StatusCode::kBadInput);
}

TEST(Damage, ALongerSourceThanAllowedIsLeftThere) {
  audio::DecodeRequest request;
  request.source_seconds_max = 10.0;
  const auto fits = decode_bytes(plain_wav(220'500), request);
  const auto over = decode_bytes(plain_wav(220'501), request);
  const auto far_over = decode_bytes(plain_wav(2'205'000), request);
  ASSERT_TRUE(fits.ok() && over.ok() && far_over.ok());
  EXPECT_FALSE(fits->facts.is_over_long);
  EXPECT_TRUE(over->facts.is_over_long);
  EXPECT_TRUE(far_over->facts.is_over_long);
  EXPECT_LE(far_over->samples.size(), 220'500U);
}

TEST(Damage, AWavCutInHalfIsDecodedWithAWarning) {
  const Bytes whole = plain_wav(22050);
  const auto decoded = decode_bytes(first_part(whole, whole.size() / 2), audio::DecodeRequest());
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->samples.size(), (whole.size() / 2 - 44) / 2);
  ASSERT_EQ(decoded->facts.warnings.size(), 1U);
  const audio::Warning& warning = decoded->facts.warnings[0];
  EXPECT_EQ(warning.kind, audio::Warning::Kind::kEndsEarly);
  EXPECT_NEAR(warning.numbers[0], 0.5, 0.01);
  EXPECT_NEAR(warning.numbers[1], 1.0, 0.01);
}

// Programs that write to a pipe do not know the length and put the largest number.
TEST(Damage, AStreamedWavIsWhole) {
  Bytes streamed = plain_wav(22050);
  set(streamed, 4, 0xFFFF'FFFF, 4);
  set(streamed, 40, 0xFFFF'FFFF, 4);
  const auto decoded = decode_bytes(streamed, audio::DecodeRequest());
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->samples.size(), 22050U);
  EXPECT_TRUE(decoded->facts.warnings.empty());
}

TEST(Damage, AnyCutIsRejectedOrGivesFewerSamples) {
  for (const char* name : kFixtures) {
    const Bytes whole = fixture(name);
    const auto complete = decode_bytes(whole, audio::DecodeRequest());
    ASSERT_TRUE(complete.ok());
    for (std::size_t size = 1; size < whole.size(); size += 131) {
      const auto cut = decode_bytes(first_part(whole, size), audio::DecodeRequest());
      if (!cut.ok()) {
        EXPECT_EQ(cut.status().code(), StatusCode::kBadInput) << name << " cut to " << size;
        continue;
      }
      EXPECT_GT(cut->samples.size(), 0U);
      EXPECT_LE(cut->samples.size(), complete->samples.size() + 4096) << name << " cut to " << size;
    }
  }
}

// A FLAC frame carries a checksum, so damage to it is seen; the frames around it survive.
TEST(Damage, ADamagedFrameCostsThatFrameAndAWarning) {
  Bytes bytes = fixture("sweep_22050_1.flac");
  for (std::size_t i = 0; i < 64; ++i) bytes[bytes.size() / 2 + i] ^= std::byte{0x5A};
  const auto decoded = decode_bytes(bytes, audio::DecodeRequest());
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_GT(decoded->samples.size(), 2000U);
  EXPECT_FALSE(decoded->facts.warnings.empty());
}

TEST(Damage, FlippedBytesNeverEndInAnythingButBadInput) {
  std::mt19937 generator(1);
  const auto decoder = make_libav_decoder();
  std::vector<float> samples;
  for (const char* name : kFixtures) {
    const Bytes whole = fixture(name);
    for (int round = 0; round < 60; ++round) {
      Bytes bytes = whole;
      for (int flip = 0; flip < 8; ++flip)
        bytes[generator() % bytes.size()] ^= static_cast<std::byte>(1 + generator() % 255);
      const auto facts =
          audio::decode_whole(*decoder, MemoryFile(bytes), audio::DecodeRequest(), samples);
      if (!facts.ok()) {
        EXPECT_EQ(facts.status().code(), StatusCode::kBadInput) << facts.status().message();
      }
    }
  }
}

// Wherever reading fails: never the end of the file, never a shorter clip.
TEST(Damage, AFailedReadIsASourceErrorAtAnyOffset) {
  std::vector<Bytes> files{plain_wav(30'000)};
  for (const char* name : kFixtures) files.push_back(fixture(name));
  const auto decoder = make_libav_decoder();
  std::vector<float> samples;
  for (const Bytes& file : files) {
    for (std::size_t offset = 0; offset < file.size(); offset += 1 + file.size() / 7) {
      const auto facts =
          audio::decode_whole(*decoder, MemoryFile(file, offset), audio::DecodeRequest(), samples);
      ASSERT_FALSE(facts.ok());
      EXPECT_EQ(facts.status().code(), StatusCode::kSourceIo) << facts.status().message();
      EXPECT_NE(facts.status().message().find("the disk says no"), std::string::npos);
    }
    EXPECT_TRUE(audio::decode_whole(*decoder, MemoryFile(file), audio::DecodeRequest(), samples)
                    .ok());  // ready again
  }
}

}  // namespace
}  // namespace xtts::decode::test
