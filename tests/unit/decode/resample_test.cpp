// Golden numbers: Python's soxr.resample, torchaudio and ffmpeg of the same noise
// (data/make_fixtures.py).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>

#include "audio/resampler.hpp"
#include "decode/libav_decoder.hpp"
#include "decode_support.hpp"

namespace xtts::decode::test {
namespace {

std::vector<float> floats(const Bytes& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

class GoldenResample : public testing::TestWithParam<std::tuple<std::uint32_t, const char*>> {};

TEST_P(GoldenResample, EqualsPythonsSoxrBitForBit) {
  const auto [rate_hz, quality] = GetParam();
  audio::DecodeRequest request;
  request.resampler = std::string("soxr_") + quality;
  const auto decoded = decode_bytes(wav_of(WavKind::kInteger, rate_hz, 1, noise(9001)), request);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  const auto golden =
      floats(fixture("noise_" + std::to_string(rate_hz) + "_to_22050_" + quality + ".f32"));
  EXPECT_EQ(decoded->samples, golden);
  EXPECT_EQ(decoded->facts.frame_count, 9001U);
}

INSTANTIATE_TEST_SUITE_P(Rates, GoldenResample,
                         testing::Values(std::tuple(44100U, "hq"), std::tuple(48000U, "hq"),
                                         std::tuple(48000U, "vhq"), std::tuple(48000U, "mq"),
                                         std::tuple(48000U, "lq"), std::tuple(44100U, "qq")));

audio::DecodeRequest request_of(const char* resampler, std::uint32_t rate_hz) {
  audio::DecodeRequest request = at_rate(rate_hz);
  request.resampler = resampler;
  return request;
}

std::vector<float> golden_of(std::uint32_t from_hz, std::uint32_t to_hz, const char* resampler) {
  return floats(fixture("noise_" + std::to_string(from_hz) + "_to_" + std::to_string(to_hz) + "_" +
                        resampler + ".f32"));
}

// torchaudio sums up float32 in another order. The noise is at full scale.
TEST(Resample, GivesWhatTorchaudioGives) {
  for (const auto& [from_hz, to_hz] :
       {std::pair(22050U, 24000U), {48000U, 24000U}, {44100U, 16000U}, {16000U, 22050U}}) {
    const auto decoded = decode_bytes(wav_of(WavKind::kInteger, from_hz, 1, noise(3001)),
                                      request_of("torchaudio_sinc", to_hz));
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    EXPECT_THAT(decoded->samples, testing::Pointwise(testing::FloatNear(5e-7F),
                                                     golden_of(from_hz, to_hz, "torchaudio_sinc")))
        << from_hz << " to " << to_hz;
  }
}

TEST(Resample, GivesWhatFfmpegGivesBitForBitFromSoundOf16Bits) {
  for (const std::uint32_t from_hz : {22050U, 44100U, 48000U}) {
    const auto decoded = decode_bytes(wav_of(WavKind::kInteger, from_hz, 1, noise(3001)),
                                      request_of("ffmpeg_swr", 16000));
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    EXPECT_EQ(decoded->samples, golden_of(from_hz, 16000, "ffmpeg_swr")) << from_hz;
  }
}

// Of other sound, and of other rates: from 22,254 Hz (old Macs), ffmpeg lays lines between taps.
TEST(Resample, IsAStepOf16BitsFromFfmpegInFewOtherSamples) {
  std::vector<float> quieter;
  for (const std::int16_t sample : noise(3001))
    quieter.push_back(static_cast<float>(sample) / 32768.0F * 0.7F);
  for (const auto& [file, golden] : {std::pair(wav_of(WavKind::kFloat, 44100, 1, quieter),
                                               golden_of(44100, 16000, "ffmpeg_swr_float")),
                                     std::pair(wav_of(WavKind::kInteger, 22254, 1, noise(3001)),
                                               golden_of(22254, 16000, "ffmpeg_swr"))}) {
    const auto decoded = decode_bytes(file, request_of("ffmpeg_swr", 16000));
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    ASSERT_EQ(decoded->samples.size(), golden.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < golden.size(); ++i) {
      EXPECT_LE(std::fabs(decoded->samples[i] - golden[i]), 1.0F / 32768.0F);
      count += decoded->samples[i] == golden[i] ? 0 : 1;
    }
    EXPECT_LT(count, golden.size() / 200);
  }
}

TEST(Resample, FfmpegRoundsTo16BitsAtTheRecipesRateToo) {
  const std::vector<float> sound{0.1F, -0.1F, 0.9999999F, -1.5F, 0.5F / 32768.0F};
  const auto decoded =
      decode_bytes(wav_of(WavKind::kFloat, 16000, 1, sound), request_of("ffmpeg_swr", 16000));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->samples, (std::vector<float>{3277.0F / 32768.0F, -3277.0F / 32768.0F,
                                                  32767.0F / 32768.0F, -1.0F, 1.0F / 32768.0F}));
}

TEST(Resample, RefusesOtherRatesIfAsked) {
  const Bytes file = wav_of(WavKind::kInteger, 44100, 1, noise(100));
  const auto refused = decode_bytes(file, request_of("refuse", 22050));
  EXPECT_EQ(refused.status().code(), StatusCode::kBadInput);
  EXPECT_EQ(refused.status().message(), "44100 Hz, and resampler=refuse takes 22050 Hz alone");
  EXPECT_TRUE(decode_bytes(file, request_of("refuse", 44100)).ok());
}

TEST(Resample, MixesBeforeItResamples) {
  std::vector<std::int16_t> stereo;
  for (const std::int16_t sample : noise(3000)) stereo.insert(stereo.end(), {sample, 0});
  std::vector<float> half;
  for (const std::int16_t sample : noise(3000)) half.push_back(sample / 65536.0F);
  const auto mixed =
      decode_bytes(wav_of(WavKind::kInteger, 48000, 2, stereo), audio::DecodeRequest());
  const auto mono = decode_bytes(wav_of(WavKind::kFloat, 48000, 1, half), audio::DecodeRequest());
  ASSERT_TRUE(mixed.ok() && mono.ok());
  EXPECT_EQ(mixed->samples, mono->samples);
}

// A context that has already seen other clips and rates must behave like a new one.
TEST(Resample, AUsedDecoderGivesTheSameBytesAsAFreshOne) {
  const auto decoder = make_libav_decoder();
  std::vector<float> samples(50'000, 7.0F);  // left over from some other clip
  for (const std::uint32_t rate_hz : {44100U, 48000U, 44100U, 44100U, 22050U, 16000U, 44100U}) {
    const Bytes file = wav_of(WavKind::kInteger, rate_hz, 1, noise(4000 + rate_hz / 100));
    ASSERT_TRUE(
        audio::decode_whole(*decoder, MemoryFile(file), audio::DecodeRequest(), samples).ok());
    const auto fresh = decode_bytes(file, audio::DecodeRequest());
    ASSERT_TRUE(fresh.ok());
    EXPECT_EQ(samples, fresh->samples) << rate_hz;
    ASSERT_FALSE(audio::decode_whole(*decoder, MemoryFile(bytes_of("no sound")),
                                     audio::DecodeRequest(), samples)
                     .ok());
  }
}

// librosa.resample: int(np.ceil(n * (22050 / rate))), evaluated with Python 3.11 for these pairs.
TEST(Resample, TheLengthIsLibrosas) {
  EXPECT_EQ(audio::resampled_length(100001, 44100, 22050), 50001U);
  EXPECT_EQ(audio::resampled_length(100001, 48000, 22050), 45938U);
  EXPECT_EQ(audio::resampled_length(100001, 44056, 22050), 50051U);
  EXPECT_EQ(audio::resampled_length(100001, 192000, 22050), 11485U);
  EXPECT_EQ(audio::resampled_length(100001, 8000, 22050), 275628U);
  EXPECT_EQ(audio::resampled_length(0, 8000, 22050), 0U);
  for (const std::size_t count : {1U, 2U, 3U, 100U, 2047U}) {
    for (const std::uint32_t rate_hz : {8000U, 11025U, 44056U, 96000U, 192000U}) {
      const auto decoded =
          decode_bytes(wav_of(WavKind::kInteger, rate_hz, 1, noise(count)), audio::DecodeRequest());
      ASSERT_TRUE(decoded.ok()) << decoded.status().message();
      EXPECT_EQ(decoded->samples.size(), audio::resampled_length(count, rate_hz, 22050));
    }
  }
}

TEST(Resample, RefusesWhatItCannotDoExactly) {
  const Bytes file = wav_of(WavKind::kInteger, 44100, 1, noise(100));
  audio::DecodeRequest request;
  request.resampler = "sinc";
  EXPECT_EQ(decode_bytes(file, request).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(decode_bytes(file, at_rate(768001)).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace xtts::decode::test
