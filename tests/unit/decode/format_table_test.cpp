// The table of demuxers and decoders against the linked FFmpeg, and the look that rests on it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "decode/formats.hpp"
#include "decode/libav_decoder.hpp"
#include "decode_support.hpp"

namespace xtts::decode::test {
namespace {

Bytes random_bytes(std::size_t count) {
  Bytes bytes(count);
  std::uint32_t state = 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24U);
  }
  return bytes;
}

audio::Recognition look(const Bytes& bytes, std::string_view suffix = "xyz") {
  const auto seen = make_libav_decoder()->recognise(MemoryFile(bytes), suffix);
  EXPECT_TRUE(seen.ok()) << seen.status().message();
  return seen.ok() ? *seen : audio::Recognition();
}

std::set<std::string> readable() {
  std::set<std::string> names;
  for (const LinkedFormat& format : linked_demuxers()) {
    const bool is_read =
        format.rule.use == FormatUse::kRead || format.rule.use == FormatUse::kReadBySuffix;
    if (is_read) names.insert(format.name);
  }
  return names;
}

// A new FFmpeg brings new demuxers. Whoever meets this failure decides for each: read, refused or
// not audio, and writes it into the table of formats.cpp.
TEST(FormatTable, EveryDemuxerOfTheLinkedFfmpegIsClassified) {
  const auto demuxers = linked_demuxers();
  ASSERT_GT(demuxers.size(), 100U);
  for (const LinkedFormat& format : demuxers)
    EXPECT_TRUE(format.rule.is_known) << format.name << ": " << format.about;
}

TEST(FormatTable, ADemuxerThatNobodyKnowsIsRefused) {
  const FormatRule rule = rule_of_demuxer("invented");
  EXPECT_EQ(rule.use, FormatUse::kRefused);
  EXPECT_FALSE(rule.is_known);
  EXPECT_EQ(rule_of_demuxer("mov,mp4,m4a,3gp,3g2,mj2").use, FormatUse::kRead);
}

TEST(FormatTable, WhatIsNotReadHasAReason) {
  for (const auto& formats : {linked_demuxers(), linked_decoders()}) {
    for (const LinkedFormat& format : formats) {
      if (format.rule.use != FormatUse::kRead) {
        EXPECT_FALSE(format.rule.reason.empty()) << format.name;
      }
    }
  }
}

TEST(FormatTable, WhatOpensOtherFilesOrAddressesIsRefused) {
  const auto names = readable();
  for (const auto name : {"hls", "concat", "dash", "imf", "sdp", "rtsp", "rtp", "sap", "image2",
                          "webm_dash_manifest", "s16le", "mulaw", "amrnb"}) {
    EXPECT_FALSE(names.contains(name)) << name;
  }
  for (const auto name : {"wav", "flac", "ogg", "mp3", "mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm",
                          "mpegts", "adx", "hca", "voc", "wtv", "g722"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(FormatTable, EveryAudioDecoderIsReadOrHasATwin) {
  std::size_t read_count = 0;
  for (const LinkedFormat& format : linked_decoders())
    read_count += format.rule.use == FormatUse::kRead ? 1 : 0;
  EXPECT_GT(read_count, 100U);
}

TEST(FormatTable, SuffixesMeanWhatLibavSays) {
  EXPECT_EQ(meaning_of_suffix("mka"), SuffixMeaning::kSound);
  EXPECT_EQ(meaning_of_suffix("OGG"), SuffixMeaning::kSound);
  EXPECT_EQ(meaning_of_suffix("wav"), SuffixMeaning::kSound);  // by its muxer
  EXPECT_EQ(meaning_of_suffix("gsm"), SuffixMeaning::kHeaderless);
  EXPECT_EQ(demuxer_of_suffix("g722"), "g722");
  EXPECT_EQ(meaning_of_suffix("sw"), SuffixMeaning::kRefused);
  EXPECT_EQ(meaning_of_suffix("pcm"), SuffixMeaning::kRefused);
  for (const auto other : {"txt", "m3u8", "mpd", "722", "png", "", "h264"})
    EXPECT_EQ(meaning_of_suffix(other), SuffixMeaning::kNothing) << other;
}

TEST(Look, FindsSoundUnderAnyName) {
  EXPECT_EQ(look(wav_of(WavKind::kInteger, 16000, 1, noise(100))).kind, audio::ContentKind::kSound);
  for (const auto name : {"sweep_22050_1.flac", "sweep_22050_1.mp3"}) {
    const Bytes bytes = fixture(name);
    for (const auto suffix : {"", "xyz", "txt", "0001"})
      EXPECT_EQ(look(bytes, suffix).kind, audio::ContentKind::kSound) << name << " ." << suffix;
  }
}

TEST(Look, AnMp3BehindALargePictureIsSound) {
  Bytes bytes = bytes_of(std::string("ID3\x03\x00\x00\x00\x0F\x7F\x7F", 10));
  bytes.resize(300'000);
  EXPECT_EQ(look(bytes).kind, audio::ContentKind::kSound);
}

TEST(Look, OtherThingsAreNotSound) {
  EXPECT_EQ(look(random_bytes(200'000)).kind, audio::ContentKind::kNotSound);
  EXPECT_EQ(look(Bytes(200'000)).kind, audio::ContentKind::kNotSound);
  EXPECT_EQ(look(Bytes()).kind, audio::ContentKind::kNotSound);
  EXPECT_EQ(look(bytes_of("#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:9,\na.ts\n")).kind,
            audio::ContentKind::kNotSound);
  EXPECT_EQ(look(bytes_of("ffconcat version 1.0\nfile a.wav\n")).kind,
            audio::ContentKind::kNotSound);
  EXPECT_EQ(look(bytes_of(std::string("\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1", 24))).kind,
            audio::ContentKind::kNotSound);
  EXPECT_EQ(look(bytes_of(std::string("\0\0\0\x1C"
                                      "ftypavif\0\0\0\0",
                                      16)))
                .kind,
            audio::ContentKind::kNotSound);
}

TEST(Look, AnEmptyPromiseIsRefusedWithAReason) {
  const audio::Recognition named = look(random_bytes(50'000), "mka");
  EXPECT_EQ(named.kind, audio::ContentKind::kRefused);
  EXPECT_EQ(named.reason, "is named like sound, but has no format that FFmpeg knows");
  EXPECT_EQ(look(random_bytes(50'000), "sw").kind, audio::ContentKind::kRefused);
  EXPECT_EQ(look(random_bytes(50'000), "g722").kind, audio::ContentKind::kSound);
}

TEST(Look, ADiskThatFailsIsNotAVerdict) {
  const auto seen = make_libav_decoder()->recognise(MemoryFile(random_bytes(100), 0), "xyz");
  EXPECT_FALSE(seen.ok());
}

// G.722 has no header: its suffix is all there is, and fixes its rate.
TEST(Look, SoundWithoutAHeaderIsDecodedByItsSuffix) {
  audio::DecodeRequest request = at_rate(0);
  EXPECT_FALSE(decode_bytes(random_bytes(8000), request).ok());
  request.suffix = "G722";
  const auto decoded = decode_bytes(random_bytes(8000), request);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->facts.container, "g722");
  EXPECT_EQ(decoded->facts.sample_rate_hz, 16000U);
  EXPECT_EQ(decoded->samples.size(), 16000U);
  // A suffix does not make anything else of a file that says what it is.
  const auto flac = decode_bytes(fixture("sweep_22050_1.flac"), request);
  ASSERT_TRUE(flac.ok()) << flac.status().message();
  EXPECT_EQ(flac->facts.container, "flac");
}

// Of real files, whatever can be decoded is seen to be sound without its name.
TEST(Look, OfTheCorpusWhatDecodesIsSound) {
  const char* corpus = std::getenv("XTTS_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "XTTS_CORPUS names no corpus of real and hostile files";
  std::size_t sound_count = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::string(corpus) + "/odd_formats")) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const Bytes bytes = bytes_of(text);
    audio::DecodeRequest request = at_rate(0);
    request.source_seconds_max = 20.0;
    const bool is_decoded = decode_bytes(bytes, request).ok();
    // 100 KB of junk before it: as likely as not it is no sound at all.
    if (entry.path().filename() == "androidx__100kB-garbage-prefix.mp3") continue;
    if (!is_decoded) continue;
    ++sound_count;
    EXPECT_EQ(look(bytes, "").kind, audio::ContentKind::kSound) << entry.path();
  }
  EXPECT_GT(sound_count, 60U);
}

}  // namespace
}  // namespace xtts::decode::test
