// Files without their end: each container shows it, in its own way. Whole files show nothing.
// tests/cuts does the same with the files of many encoders.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "decode_support.hpp"

namespace xtts::decode::test {
namespace {

using Kind = audio::Warning::Kind;

constexpr std::size_t kFrameCount = 22'050;

std::string number(std::uint64_t value, std::size_t size, bool is_little) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  if (!is_little) std::ranges::reverse(bytes);
  return bytes;
}
std::string big(std::uint64_t value, std::size_t size) {
  return number(value, size, false);
}
std::string little(std::uint64_t value, std::size_t size) {
  return number(value, size, true);
}

std::string samples(bool is_little) {
  std::string bytes;
  for (const std::int16_t sample : noise(kFrameCount))
    bytes += number(static_cast<std::uint16_t>(sample), 2, is_little);
  return bytes;
}

// Each takes the number that stands for the size of the sound.
using MakeFile = std::function<std::string(std::uint64_t size)>;

std::string wav_file(std::uint64_t size) {
  return "RIFF" + little(36 + size, 4) + "WAVEfmt " + little(16, 4) + little(1, 2) + little(1, 2) +
         little(22050, 4) + little(44100, 4) + little(2, 2) + little(16, 2) + "data" +
         little(size, 4) + samples(true);
}

std::string rf64_file(std::uint64_t size) {
  return "RF64" + little(0xFFFF'FFFF, 4) + "WAVEds64" + little(28, 4) + little(72 + size, 8) +
         little(size, 8) + little(kFrameCount, 8) + little(0, 4) + "fmt " + little(16, 4) +
         little(1, 2) + little(1, 2) + little(22050, 4) + little(44100, 4) + little(2, 2) +
         little(16, 2) + "data" + little(0xFFFF'FFFF, 4) + samples(true);
}

std::string w64_file(std::uint64_t size) {
  const std::string tail("\xF3\xAC\xD3\x11\x8C\xD1\x00\xC0\x4F\x8E\xDB\x8A", 12);
  const std::string riff("riff\x2E\x91\xCF\x11\xA5\xD6\x28\xDB\x04\xC1\x00\x00", 16);
  return riff + little(104 + size, 8) + "wave" + tail + "fmt " + tail + little(40, 8) +
         little(1, 2) + little(1, 2) + little(22050, 4) + little(44100, 4) + little(2, 2) +
         little(16, 2) + "data" + tail + little(24 + size, 8) + samples(true);
}

std::string aiff_file(std::uint64_t size) {
  const std::string rate("\x40\x0D\xAC\x44\x00\x00\x00\x00\x00\x00", 10);  // 22050
  return "FORM" + big(46 + size, 4) + "AIFFCOMM" + big(18, 4) + big(1, 2) + big(kFrameCount, 4) +
         big(16, 2) + rate + "SSND" + big(8 + size, 4) + big(0, 8) + samples(false);
}

std::string au_file(std::uint64_t size) {
  return ".snd" + big(24, 4) + big(size, 4) + big(3, 4) + big(22050, 4) + big(1, 4) +
         samples(false);
}

std::string caf_file(std::uint64_t size) {
  const std::string rate("\x40\xD5\x88\x80\x00\x00\x00\x00", 8);  // 22050 as a double
  return "caff" + big(1, 2) + big(0, 2) + "desc" + big(32, 8) + rate + "lpcm" + big(2, 4) +
         big(2, 4) + big(1, 4) + big(1, 4) + big(16, 4) + "data" + big(4 + size, 8) + big(0, 4) +
         samples(true);
}

struct Container {
  const char* name;
  Bytes whole;
};

std::vector<Container> containers() {
  constexpr std::uint64_t kSize = 2 * kFrameCount;
  return {{"WAV", bytes_of(wav_file(kSize))},
          {"RF64", bytes_of(rf64_file(kSize))},
          {"W64", bytes_of(w64_file(kSize))},
          {"AIFF", bytes_of(aiff_file(kSize))},
          {"AU", bytes_of(au_file(kSize))},
          {"CAF", bytes_of(caf_file(kSize))},
          {"FLAC", fixture("sweep_22050_1.flac")},
          {"MP3", fixture("sweep_22050_1.mp3")},
          {"Ogg Vorbis", fixture("sweep_22050_1.ogg")},
          {"Ogg Opus", fixture("sweep_48000_1.opus")},
          {"M4A", fixture("sweep_22050_1.m4a")},
          {"ADTS", fixture("sweep_44100_1.aac")}};
}

bool is_sign(const audio::Warning& warning) {
  return warning.kind == Kind::kPacketsSkipped || warning.kind == Kind::kReadingStopped ||
         warning.kind == Kind::kEndsEarly || warning.kind == Kind::kEndMissing;
}

// Returns decoding's word about the end: "", "fails", or the kinds of warnings by their numbers.
std::string said_of(const Bytes& bytes) {
  const auto decoded = decode_bytes(bytes, audio::DecodeRequest());
  if (!decoded.ok()) return "fails";
  std::string said;
  for (const audio::Warning& warning : decoded->facts.warnings) {
    if (is_sign(warning)) said += std::to_string(static_cast<int>(warning.kind)) + warning.text;
  }
  const auto& facts = decoded->facts;
  if (said.empty()) {
    EXPECT_EQ(facts.whole_frame_count, facts.frame_count);
  } else {
    EXPECT_LE(facts.whole_frame_count, facts.frame_count);
  }
  return said;
}

Bytes joined(Bytes bytes, const std::string& tail) {
  const Bytes more = bytes_of(tail);
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

// The place of the last `magic` in the file.
std::size_t last_of(const Bytes& bytes, const std::string& magic) {
  const Bytes wanted = bytes_of(magic);
  const auto found = std::find_end(bytes.begin(), bytes.end(), wanted.begin(), wanted.end());
  return static_cast<std::size_t>(found - bytes.begin());
}

// The CRC of an Ogg page, whose own field is 0: polynomial 0x04C11DB7, nothing turned around.
std::uint32_t ogg_crc(std::span<const std::byte> page) {
  std::uint32_t crc = 0;
  for (const std::byte byte : page) {
    crc ^= std::to_integer<std::uint32_t>(byte) << 24U;
    for (int bit = 0; bit < 8; ++bit) crc = crc << 1U ^ (crc >> 31U ? 0x04C1'1DB7U : 0U);
  }
  return crc;
}

// The file without the mark of the last page: as if more pages had followed.
Bytes without_last_mark(Bytes bytes) {
  const auto page = std::span(bytes).subspan(last_of(bytes, "OggS"));
  page[5] &= ~std::byte{4};
  std::ranges::fill(page.subspan(22, 4), std::byte{0});
  const Bytes crc = bytes_of(little(ogg_crc(page), 4));
  std::ranges::copy(crc, page.begin() + 22);
  return bytes;
}

TEST(Cut, WholeFilesShowNothing) {
  for (const Container& one : containers()) EXPECT_EQ(said_of(one.whole), "") << one.name;
}

TEST(Cut, ShowsInEachContainer) {
  for (const Container& one : containers()) {
    for (const std::size_t percent : {10U, 50U, 90U, 99U}) {
      const Bytes cut = first_part(one.whole, one.whole.size() * percent / 100);
      EXPECT_NE(said_of(cut), "") << one.name << " cut at " << percent << " %";
    }
  }
}

// Less than 10 ms is no cut: programs have counted a header as sound.
TEST(Cut, OfPlainSoundBeginsAt10Ms) {
  for (const Container& one : containers()) {
    if (one.whole.size() < 2 * kFrameCount) continue;
    EXPECT_EQ(said_of(first_part(one.whole, one.whole.size() - 44)), "") << one.name;
    EXPECT_NE(said_of(first_part(one.whole, one.whole.size() - 480)), "") << one.name;
  }
}

// Programs that write to a pipe do not know the size.
TEST(Cut, OfAStreamIsNotKnown) {
  for (const std::uint64_t size : {0xFFFF'FFFFU, 0x7FFF'F000U, 0x8000'0000U, 0U})
    EXPECT_EQ(said_of(bytes_of(wav_file(size))), "") << size;
  EXPECT_EQ(said_of(bytes_of(au_file(0xFFFF'FFFF))), "");
  EXPECT_EQ(said_of(bytes_of(aiff_file(0x7F00'0000))), "");
  EXPECT_EQ(said_of(bytes_of(caf_file(std::uint64_t{0} - 5))), "");
}

TEST(Cut, TellsHowMuchIsMissing) {
  const Bytes whole = bytes_of(wav_file(2 * kFrameCount));
  const auto decoded = decode_bytes(first_part(whole, 44 + kFrameCount), audio::DecodeRequest());
  ASSERT_TRUE(decoded.ok());
  ASSERT_EQ(decoded->facts.warnings.size(), 1U);
  const audio::Warning& warning = decoded->facts.warnings[0];
  EXPECT_EQ(warning.kind, Kind::kEndsEarly);
  EXPECT_NEAR(warning.numbers[0], 0.5, 1e-6);
  EXPECT_NEAR(warning.numbers[1], 1.0, 1e-6);
  // All that is there is whole.
  EXPECT_EQ(decoded->facts.whole_frame_count, decoded->facts.frame_count);
}

TEST(Cut, BehindTheSoundOfAWavIsNone) {
  const std::string whole = wav_file(2 * kFrameCount) + "LIST" + little(4000, 4) + "INFO";
  EXPECT_EQ(said_of(bytes_of(whole)), "");
}

TEST(Cut, OfALastPageShows) {
  for (const char* name : {"sweep_22050_1.ogg", "sweep_48000_1.opus"}) {
    const Bytes whole = fixture(name);
    const std::size_t page = last_of(whole, "OggS");
    EXPECT_EQ(said_of(without_last_mark(whole)), "5the Ogg page that ends the stream is not there")
        << name;
    EXPECT_NE(said_of(first_part(whole, page)), "") << name;
    EXPECT_NE(said_of(first_part(whole, whole.size() - 1)), "") << name;
    EXPECT_EQ(said_of(joined(whole, std::string(500, '\0'))), "") << name;
  }
}

TEST(Cut, OfALastFrameOfMp3Shows) {
  const Bytes whole = fixture("sweep_22050_1.mp3");
  EXPECT_NE(said_of(first_part(whole, whole.size() - 1)), "");
}

TEST(Cut, TagsAndZerosAtTheEndAreNoDamage) {
  const std::string id3v1 = "TAG" + std::string(125, 'x');
  const std::string ape =
      "APETAGEX" + little(2000, 4) + little(32, 4) + little(0, 4) + little(0, 4) + little(0, 8);
  for (const char* name : {"sweep_22050_1.mp3", "sweep_22050_1.flac", "sweep_44100_1.aac"}) {
    const Bytes whole = fixture(name);
    EXPECT_EQ(said_of(joined(whole, id3v1)), "") << name;
    EXPECT_EQ(said_of(joined(whole, ape + id3v1)), "") << name;
    EXPECT_EQ(said_of(joined(whole, std::string(300, '\0'))), "") << name;
  }
}

// The size of these tags stands at their ends only.
TEST(Cut, TagsWithoutAHeaderAreNoDamage) {
  const std::string id3v1 = "TAG" + std::string(125, 'x');
  const std::string item = little(8, 4) + little(0, 4) + std::string("Title\0Anything", 14);
  const std::string ape = item + "APETAGEX" + little(1000, 4) + little(32 + item.size(), 4) +
                          little(1, 4) + little(0, 4) + little(0, 8);
  const std::string lyrics1 = "LYRICSBEGINWords of a song, all of themLYRICSEND";
  const std::string lyrics2 = "LYRICSBEGININD0000200LYR00020[00:01]Hello world!!000049LYRICS200";
  for (const char* name : {"sweep_22050_1.mp3", "sweep_22050_1.flac", "sweep_44100_1.aac"}) {
    Bytes whole = fixture(name);
    // Without the count of frames, what follows the last one may be sound.
    const Bytes count = bytes_of("Info");
    const auto found = std::search(whole.begin(), whole.end(), count.begin(), count.end());
    if (found != whole.end()) *found = std::byte{0};
    for (const std::string& tags : {ape, ape + id3v1, lyrics1 + id3v1, lyrics2 + id3v1,
                                    ape + lyrics2 + id3v1, lyrics2 + ape + id3v1})
      EXPECT_EQ(said_of(joined(whole, tags)), "") << name << " " << tags;
  }
}

// Nothing but the last frame says where it ends.
TEST(Cut, ZerosBehindAFlacOfUnknownLengthAreNoDamage) {
  Bytes whole = fixture("sweep_22050_1.flac");
  constexpr std::size_t kSampleCountAt = 8 + 13;  // the lower 4 bits, and 4 bytes
  whole[kSampleCountAt] &= std::byte{0xF0};
  std::fill_n(whole.begin() + kSampleCountAt + 1, 4, std::byte{0});
  EXPECT_EQ(said_of(whole), "");
  EXPECT_EQ(said_of(joined(whole, std::string(300, '\0'))), "");
  EXPECT_NE(said_of(first_part(whole, whole.size() - 100)), "");
}

TEST(Cut, JoinedFilesAreNoDamage) {
  for (const char* name : {"sweep_22050_1.mp3", "sweep_48000_1.opus", "sweep_22050_1.ogg"}) {
    Bytes twice = fixture(name);
    const Bytes once = twice;
    twice.insert(twice.end(), once.begin(), once.end());
    EXPECT_EQ(said_of(twice), "") << name;
  }
}

// A header may say anything, and no answer may take long or end outside the file.
TEST(Cut, HostileStructuresAreOnlyUnknown) {
  const std::string endless = "RIFF" + little(100, 4) + "WAVE";
  std::string chunks = endless + "fmt " + little(16, 4) + little(1, 2) + little(1, 2) +
                       little(22050, 4) + little(44100, 4) + little(2, 2) + little(16, 2);
  EXPECT_EQ(said_of(bytes_of(chunks + "data" + little(0, 4) + samples(true))), "");
  std::string w64 = w64_file(2 * kFrameCount);
  for (std::size_t at : {56U, 96U}) {
    std::string broken = w64;
    broken.replace(at, 8, little(~std::uint64_t{0} - 3, 8));
    (void)said_of(bytes_of(broken));
    broken.replace(at, 8, little(1, 8));
    (void)said_of(bytes_of(broken));
  }
}

}  // namespace
}  // namespace xtts::decode::test
