// Encoded files, made by data/make_fixtures.py from sweeps of exactly 0.4 s. A sweep has no period,
// so a shift by one sample shows as a better match at another lag, and encoder padding shows in the
// length.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "decode/libav_decoder.hpp"
#include "decode_support.hpp"

namespace xtts::decode::test {
namespace {

struct Case {
  const char* name;
  const char* container;
  const char* codec;
  std::uint32_t rate_hz;
  std::uint16_t channel_count;
  double error_db_max;  // of the difference, relative to the signal
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

double error_db(const std::vector<float>& signal, const std::vector<float>& decoded,
                std::size_t lag) {
  double error = 0.0;
  double power = 0.0;
  for (std::size_t i = 0; i + lag < decoded.size() && i < signal.size(); ++i) {
    error += std::pow(static_cast<double>(decoded[i + lag]) - static_cast<double>(signal[i]), 2);
    power += std::pow(static_cast<double>(signal[i]), 2);
  }
  return 10.0 * std::log10(error / power);
}

std::vector<float> expected_signal(std::uint32_t rate_hz, std::uint16_t channel_count) {
  std::vector<float> signal = sweep(rate_hz, 300);
  if (channel_count == 2) {
    const std::vector<float> right = sweep(rate_hz, 700);
    for (std::size_t i = 0; i < signal.size(); ++i) signal[i] = (signal[i] + right[i]) / 2.0F;
  }
  return signal;
}

class Formats : public testing::TestWithParam<Case> {};

TEST_P(Formats, GivesTheSoundAndNothingElse) {
  const Case& c = GetParam();
  const auto decoded = decode_bytes(fixture(c.name), at_rate(c.rate_hz));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->facts.container, c.container);
  EXPECT_EQ(decoded->facts.codec, c.codec);
  EXPECT_EQ(decoded->facts.sample_rate_hz, c.rate_hz);
  EXPECT_EQ(decoded->facts.channel_count, c.channel_count);
  EXPECT_EQ(decoded->facts.clipped_sample_count, 0U);
  EXPECT_TRUE(decoded->facts.warnings.empty()) << decoded->facts.warnings[0].text;
  const std::vector<float> signal = expected_signal(c.rate_hz, c.channel_count);
  ASSERT_EQ(decoded->samples.size(), signal.size());
  EXPECT_LT(error_db(signal, decoded->samples, 0), c.error_db_max);
}

TEST_P(Formats, ComesOutAtTheTargetRate) {
  const Case& c = GetParam();
  const auto decoded = decode_bytes(fixture(c.name), audio::DecodeRequest());
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  ASSERT_EQ(decoded->samples.size(), 8820U);
  // Where the sweep begins and ends at full swing, the resampler's filter rings.
  EXPECT_LT(error_db(expected_signal(22050, c.channel_count), decoded->samples, 0),
            std::max(c.error_db_max, -60.0));
}

// The bounds are 3 dB above what the encoders of the fixtures left; one sample of shift costs more
// than that where it matters (at 44.1 kHz it alone makes an error of -16 dB).
INSTANTIATE_TEST_SUITE_P(
    Fixtures, Formats,
    testing::Values(Case{"sweep_22050_1.flac", "flac", "flac", 22050, 1, -80},
                    Case{"sweep_44100_2.flac", "flac", "flac", 44100, 2, -80},
                    Case{"sweep_48000_1.flac", "flac", "flac", 48000, 1, -80},
                    Case{"sweep_22050_1.mp3", "mp3", "mp3", 22050, 1, -20},
                    Case{"sweep_44100_2.mp3", "mp3", "mp3", 44100, 2, -20},
                    Case{"sweep_48000_1.mp3", "mp3", "mp3", 48000, 1, -20},
                    Case{"sweep_22050_1.ogg", "ogg", "vorbis", 22050, 1, -20},
                    Case{"sweep_44100_2.ogg", "ogg", "vorbis", 44100, 2, -20},
                    Case{"sweep_48000_1.ogg", "ogg", "vorbis", 48000, 1, -20},
                    Case{"sweep_22050_1.m4a", "mov,mp4,m4a,3gp,3g2,mj2", "aac", 22050, 1, -20},
                    Case{"sweep_44100_2.m4a", "mov,mp4,m4a,3gp,3g2,mj2", "aac", 44100, 2, -20},
                    Case{"sweep_48000_1.m4a", "mov,mp4,m4a,3gp,3g2,mj2", "aac", 48000, 1, -20},
                    Case{"itunes_44100_1.m4a", "mov,mp4,m4a,3gp,3g2,mj2", "aac", 44100, 1, -20},
                    Case{"sweep_48000_1.opus", "ogg", "opus", 48000, 1, -20},
                    Case{"sweep_48000_2.opus", "ogg", "opus", 48000, 2, -20}),
    [](const auto& tested) {
      std::string name = tested.param.name;
      for (char& letter : name) letter = letter == '.' || letter == '_' ? 'X' : letter;
      return name;
    });

// Raw AAC says nothing about the encoder's delay, so all of it stays: 1,024 samples before the
// sound, padding after.
TEST(RawAac, KeepsWhatNobodySaysIsPadding) {
  for (const char* name : {"sweep_44100_1.aac", "sweep_44100_1.ts"}) {
    const auto decoded = decode_bytes(fixture(name), at_rate(44100));
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    EXPECT_EQ(decoded->facts.codec, "aac");
    EXPECT_EQ(decoded->samples.size(), 19U * 1024U);
    EXPECT_LT(error_db(sweep(44100, 300), decoded->samples, 1024), -20.0) << name;
  }
}

// Its header states 16,000 Hz, by which libav takes Opus's packets for three times as long.
TEST(Formats, TheLengthOfOpusInMatroskaIsThatOfItsSound) {
  const MemoryFile file(fixture("sweep_16000_1.webm"));
  const auto length = make_libav_decoder()->length(file, "webm");
  ASSERT_TRUE(length.ok()) << length.status().message();
  const double seconds = static_cast<double>(length->frame_count) / length->sample_rate_hz;
  EXPECT_GE(seconds, 0.4);
  EXPECT_LE(seconds, 0.47);
}

TEST(Formats, NamesTheLibrariesThatDecideTheSamples) {
  const std::string libraries = decode_libraries();
  for (const char* name : {"libavformat ", "libavcodec ", "libavutil ", "libsoxr "}) {
    EXPECT_NE(libraries.find(name), std::string::npos) << libraries;
  }
}

}  // namespace
}  // namespace xtts::decode::test
