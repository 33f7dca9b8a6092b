#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kEsdExample("esd", "x",
                                {{"0011/0011.txt", "0011_000001\tGo.\tSad\n"},
                                 {"0011/Sad/0011_000001.wav", ""}},
                                "ESD transcripts (x/0011/0011.txt) are in DATA");

std::string utf16_bytes(std::string_view ascii) {
  std::string bytes = "\xFF\xFE";
  for (const char c : ascii) (bytes += c) += '\0';
  return bytes;
}

// The published tree: splits are folders of each emotion; lists have four encodings.
void add_esd(MemoryEnv& env) {
  const std::string esd = "/data/Emotion Speech Dataset/";
  env.add_file(esd + "0001/0001.txt",
               "0001_000001\t\xB4\xF2\xD4\xB6\xD2\xBB\xB5\xE3\t\xD6\xD0\xC1\xA2\n");  // GB2312
  env.add_file(esd + "0011/0011.txt",
               "0011_000001\tThe nine the eggs, I keep.\tNeutral\n"
               "0011_000351\tThe nine the eggs, I keep.\tAngry\n"
               "\n"
               "0011_000701\tI did go.\tHappy\n");
  env.add_file(esd + "0012/0012.txt", utf16_bytes("0012_000001\tHello\tSad\r\n"));
  env.add_file(esd + "0016/0016.txt", "0016_000001\tI don\x92t\tSurprise\n");
  for (const std::string path : {"0001/Neutral/train/0001_000001", "0011/Neutral/train/0011_000001",
                                 "0011/Angry/evaluation/0011_000351", "0011/Happy/test/0011_000701",
                                 "0012/Sad/0012_000001", "0016/Surprise/test/0016_000001"}) {
    env.add_file(esd + path + ".wav", "RIFF");
  }
}

TEST(Esd, ReadsSpeakersEmotionsSplitsAndLanguages) {
  MemoryEnv env;
  add_esd(env);
  const Corpus corpus = discover_data(env, {.train_split = 1.0, .validation_split = 0.0});
  EXPECT_EQ(corpus.layout, "esd");
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_EQ(corpus.clips.size(), 6U);
  const Clip angry = clip_of(corpus, "0011_000351");
  EXPECT_EQ(angry.split, Split::kValidation);
  EXPECT_EQ(angry.speaker, "0011");
  EXPECT_EQ(angry.language, "en");
  EXPECT_EQ(angry.extra_json, R"({"emotion":"Angry"})");
  EXPECT_EQ(angry.source, "Emotion Speech Dataset/0011/Angry/evaluation/0011_000351.wav");
  EXPECT_EQ(clip_of(corpus, "0011_000701").split, Split::kTest);
  EXPECT_EQ(clip_of(corpus, "0012_000001").split, Split::kTrain) << "no folder of a split";
}

TEST(Esd, ListsAreReadInTheEncodingsTheyWerePublishedIn) {
  MemoryEnv env;
  add_esd(env);
  const Corpus corpus = discover_data(env);
  const Clip chinese = clip_of(corpus, "0001_000001");
  EXPECT_EQ(chinese.text_raw, "打远一点");
  EXPECT_EQ(chinese.language, "zh");
  EXPECT_EQ(chinese.extra_json, R"({"emotion":"Neutral"})") << "the folder says it in English";
  EXPECT_EQ(clip_of(corpus, "0012_000001").text_raw, "Hello");
  EXPECT_EQ(clip_of(corpus, "0016_000001").text_raw, "I don’t");
}

TEST(Esd, WhatIsMissingIsNamed) {
  MemoryEnv env;
  add_esd(env);
  env.add_file("/data/Emotion Speech Dataset/0011/0011.txt",
               "0011_000001\tx\tNeutral\n0011_9\tx\n");
  env.add_file("/data/Emotion Speech Dataset/0001/0001.txt", "0001_000001\t\xFF\xFF\t\n");
  const std::string problems = problems_of(discover_data(env));
  EXPECT_TRUE(says(problems, "0011.txt:2 0011_9: no audio named 0011_9")) << problems;
  EXPECT_TRUE(says(problems, "0001.txt : is not UTF-8, UTF-16, or what")) << problems;
}

TEST(Esd, FoldersOfDigitsAloneAreNoneOfIt) {
  MemoryEnv env;
  env.add_file("/data/0011/0011.txt", "0011_000001\tx\tNeutral\n");
  add_audio(env, {"0011/0011_000001.wav"});
  EXPECT_EQ(layout_of(env), "folder");
}

}  // namespace
}  // namespace xtts::corpus
