#include "corpus/clips/speakers.hpp"
#include "formats/corpus_config.hpp"

#include <gtest/gtest.h>

#include "support/memory_env.hpp"

namespace xtts::corpus {
namespace {

std::vector<Clip> clips_of(const std::vector<std::string>& sources) {
  std::vector<Clip> clips;
  for (const std::string& source : sources) {
    Clip& clip = clips.emplace_back();
    clip.id = clip.source = source;
    clip.speaker = "from the list";
  }
  return clips;
}

std::string speaker_of(const std::string& source, const std::string& pattern) {
  auto clips = clips_of({source});
  std::vector<std::string> notes;
  const Status status = apply_speakers({.speaker_pattern = pattern}, clips, notes);
  return status.ok() ? std::string(clips[0].speaker) : status.message();
}

TEST(Speakers, TheFirstGroupOrElseTheWholeMatchIsTheSpeaker) {
  EXPECT_EQ(speaker_of("wavs/p225_001.wav", "^(p\\d+)_"), "p225");
  EXPECT_EQ(speaker_of("wavs/p225_001.wav", "^p\\d+"), "p225");
  EXPECT_EQ(speaker_of("anna/0001.wav", "^([a-z]+)"), "")
      << "the pattern is for the file name alone";
  EXPECT_EQ(speaker_of("x_(bob).wav", "\\((?P<speaker>\\w+)\\)"), "bob")
      << "Python's named groups are in use";
}

TEST(Speakers, CountsNamesThatDoNotMatch) {
  auto clips = clips_of({"p1_a.wav", "z.wav", "y.wav"});
  std::vector<std::string> notes;
  ASSERT_TRUE(apply_speakers({.speaker_pattern = "^(p\\d+)_"}, clips, notes).ok());
  EXPECT_EQ(clips[1].speaker, "");
  EXPECT_EQ(notes,
            std::vector<std::string>{"speaker_pattern gives no speaker for 2 clips (y.wav)"});
}

TEST(Speakers, OneNameForAllOverridesTheList) {
  auto clips = clips_of({"a.wav", "b.wav"});
  std::vector<std::string> notes;
  ASSERT_TRUE(apply_speakers({}, clips, notes).ok());
  EXPECT_EQ(clips[0].speaker, "from the list");
  ASSERT_TRUE(apply_speakers({.speaker = "linda"}, clips, notes).ok());
  EXPECT_EQ(clips[1].speaker, "linda");
}

Result<std::vector<std::string>> names_in(const std::string& bytes,
                                          const std::string& encoding = {}) {
  testing::MemoryEnv env;
  env.add_file("/s.txt", bytes);
  return read_speaker_names(env, "/s.txt", encoding);
}

TEST(SpeakerNames, AreTheLinesOfAFile) {
  const std::vector<std::string> names{"anna b", "J\u00FCrgen"};
  const auto plain = names_in("anna b\nJ\u00FCrgen\n");
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  EXPECT_EQ(*plain, names);
  const auto other = names_in("anna b\r\nJ\xFCrgen\r\n", "latin1");
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_EQ(*other, names);
}

TEST(SpeakerNames, AreRefusedWithTheirLine) {
  const std::vector<std::pair<std::string, std::string>> refused{
      {"anna\nben\nanna\n", "/s.txt:3: 'anna' is the name on line 1, too"},
      {"anna\n\nben\n", "/s.txt:2: the line is empty"},
      {"anna\nben\n\n", "/s.txt:3: the line is empty"},
      {"anna \nben\n", "/s.txt:1: a blank at the beginning or the end of 'anna '"},
      {"anna\n\tben\n", "/s.txt:2: a blank at"},
      {"anna\nb\xFFn\n", "/s.txt:2: not UTF-8 (byte 2)"},
      {"anna\nb\x01n\n", "/s.txt:2: the name holds a control character"},
      {"anna\n" + std::string(256, 'x') + "\n", "/s.txt:2: the name has 256 bytes; at most 255"},
      {"", "/s.txt is empty"}};
  for (const auto& [bytes, message] : refused) {
    const auto names = names_in(bytes);
    ASSERT_FALSE(names.ok()) << bytes;
    EXPECT_EQ(names.status().code(), StatusCode::kInvalidArgument) << bytes;
    EXPECT_TRUE(names.status().message().starts_with(message)) << names.status().message();
  }
}

TEST(Speakers, RefusesPatternsThatAreNone) {
  auto clips = clips_of({"a.wav"});
  std::vector<std::string> notes;
  for (const std::string pattern : {"(", "[z-a]", "(a)\\1", "((a{1,1000}){1,1000}){1,1000}"}) {
    const Status status = apply_speakers({.speaker_pattern = pattern}, clips, notes);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << pattern;
    EXPECT_NE(status.message().find("speaker_pattern '" + pattern + "'"), std::string::npos);
  }
  EXPECT_FALSE(apply_speakers({.speaker = "a", .speaker_pattern = "b"}, clips, notes).ok());
}

TEST(Speakers, APatternThatBacktracksForEverEnds) {
  // 2^250 steps for a matcher that backtracks: the test would never come back.
  EXPECT_EQ(speaker_of(std::string(250, 'a') + "!", "(a+)+$"), "");
}

TEST(Speakers, AMatchThatCutsACharacterIsNoSpeaker) {
  EXPECT_EQ(speaker_of("é_1.wav", "^(.)"), "");
}

}  // namespace
}  // namespace xtts::corpus
