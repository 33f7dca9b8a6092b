#include <gtest/gtest.h>

#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kVctkExample("vctk", "x",
                                 {{"wav48/p225/p225_001.wav", ""},
                                  {"txt/p225/p225_001.txt", "Go."}},
                                 "VCTK recordings (x/wav48/p225/p225_001.wav) are in DATA");

TEST(Vctk, ReadsRelease080) {
  MemoryEnv env;
  env.add_file("/data/VCTK-Corpus/wav48/p225/p225_001.wav", "RIFF");
  env.add_file("/data/VCTK-Corpus/wav48/p376/p376_295.wav", "RIFF");
  env.add_file("/data/VCTK-Corpus/txt/p225/p225_001.txt", "Please call Stella.\n");
  env.add_file("/data/VCTK-Corpus/speaker-info.txt",
               "ID  AGE  GENDER  ACCENTS  REGION \r\n"
               "225  23  F    English    Southern  England\r\n");
  env.add_file("/data/VCTK-Corpus/README", "");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "vctk");
  EXPECT_EQ(ids_of(corpus), (Ids{"p225_001", "p376_295"}));
  const Clip clip = clip_of(corpus, "p225_001");
  EXPECT_EQ(clip.source, "VCTK-Corpus/wav48/p225/p225_001.wav");
  EXPECT_EQ(clip.text_raw, "Please call Stella.");
  EXPECT_EQ(clip.text_normalized, "Please call Stella.");
  EXPECT_EQ(clip.speaker, "p225");
  EXPECT_EQ(clip.language, "en");
  EXPECT_EQ(clip.extra_json, R"({"accent":"English","age":23,"gender":"F"})");
  EXPECT_EQ(clip_of(corpus, "p376_295").extra_json, "");
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_TRUE(says(notes_of(corpus), "1 clip has no text"));
  EXPECT_EQ(corpus.ignored_file_count, 1U) << "README";
}

TEST(Vctk, OfTwoMicrophonesTheFirstIsUsed) {
  MemoryEnv env;
  for (const auto name : {"p225/p225_001_mic1.flac", "p225/p225_001_mic2.flac",
                          "p225/p225_002_mic1.flac", "p280/p280_001_mic1.flac",
                          "p315/p315_001_mic2.flac", "s5/s5_001_mic1.flac", "s5/s5_001_mic2.flac"})
    env.add_file("/data/wav48_silence_trimmed/" + std::string(name), "");
  env.add_file("/data/wav48_silence_trimmed/log.txt", "");
  for (const auto name : {"p225/p225_001", "p225/p225_002", "p280/p280_001", "s5/s5_001"})
    env.add_file("/data/txt/" + std::string(name) + ".txt", "text");
  env.add_file("/data/speaker-info.txt",
               "ID  AGE  GENDER  ACCENTS  REGION COMMENTS \n"
               "p225  23  F    English    Southern  England\n"
               "p280  F    Unknown    France   (mic2 files unavailable)\n"
               "p315  18  M  (no text)\n"
               "s5  ?\n");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"p225_001", "p225_002", "p280_001", "p315_001", "s5_001"}));
  EXPECT_EQ(clip_of(corpus, "p225_001").source, "wav48_silence_trimmed/p225/p225_001_mic1.flac");
  EXPECT_EQ(clip_of(corpus, "p315_001").source, "wav48_silence_trimmed/p315/p315_001_mic2.flac");
  EXPECT_EQ(clip_of(corpus, "p315_001").text_raw, "");
  EXPECT_EQ(clip_of(corpus, "p280_001").extra_json, R"({"accent":"Unknown","gender":"F"})");
  EXPECT_EQ(clip_of(corpus, "p315_001").extra_json, R"({"age":18,"gender":"M"})");
  EXPECT_EQ(clip_of(corpus, "s5_001").extra_json, "");
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_TRUE(says(notes_of(corpus), "2 recordings of mic2 are not used"));
  EXPECT_TRUE(says(notes_of(corpus), "1 utterance has no recording of mic1"));
  EXPECT_FALSE(says(notes_of(corpus), "not used by the list")) << "those of mic2 were told of";
  EXPECT_EQ(corpus.ignored_file_count, 1U) << "log.txt";
}

TEST(Vctk, OddFilesAreToldOf) {
  MemoryEnv env;
  env.add_file("/data/wav48/p225/p225_001.wav", "");
  env.add_file("/data/wav48/p225/p225_002.wav", "");
  env.add_file("/data/wav48/p225/noise.wav", "");
  env.add_file("/data/wav48_silence_trimmed/p225/p225_001_mic1.flac", "");
  env.add_file("/data/txt/p225/p225_001.txt", "one\r\ntwo\r\n");
  env.add_file("/data/txt/p225/p225_002.txt", "caf\xE9");
  env.add_file("/data/txt/p225/p225_003.txt", "no audio");
  env.add_file("/data/txt/p226/p226_001.txt", "no speaker");
  env.add_file("/elsewhere.txt", "p225 23 F");
  env.add_link("/data/speaker-info.txt", "/elsewhere.txt");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"p225_001"});
  EXPECT_EQ(clip_of(corpus, "p225_001").source, "wav48/p225/p225_001.wav");
  EXPECT_EQ(clip_of(corpus, "p225_001").text_normalized, "one two");
  EXPECT_EQ(clip_of(corpus, "p225_001").extra_json, "");
  EXPECT_EQ(problems_of(corpus),
            "txt/p225/p225_002.txt p225_002: the transcript is not UTF-8 (byte 4); save it as "
            "UTF-8, or name its encoding, as in --encoding cp1256\n"
            "txt/p225/p225_003.txt p225_003: no audio named p225_003 in wav48/p225/\n"
            "wav48_silence_trimmed/p225/p225_001_mic1.flac p225_001: the same id is in "
            "wav48/p225/p225_001.wav, which is used\n");
  EXPECT_TRUE(says(notes_of(corpus), "1 transcript is of a speaker without recordings"));
  EXPECT_TRUE(
      says(notes_of(corpus), "speaker-info.txt is not used: speaker-info.txt is a symbolic"));
  EXPECT_TRUE(says(notes_of(corpus), "3 audio files are not used by the list"));
}

TEST(Vctk, ARecordingThatLeavesDataIsAProblem) {
  MemoryEnv env;
  env.add_file("/disk/a.flac", "");
  env.add_file("/data/wav48_silence_trimmed/p225/p225_001_mic2.flac", "");
  env.add_link("/data/wav48_silence_trimmed/p225/p225_001_mic1.flac", "/disk/a.flac");
  env.add_link("/data/wav48_silence_trimmed/p225/p225_002_mic1.flac", "/disk/a.flac");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(clip_of(corpus, "p225_001").source, "wav48_silence_trimmed/p225/p225_001_mic2.flac");
  ASSERT_EQ(corpus.problems.size(), 1U) << problems_of(corpus);
  EXPECT_EQ(corpus.problems[0].id, "p225_002");
  EXPECT_TRUE(says(corpus.problems[0].reason.detail, "leaves DATA (to /disk/a.flac)"));
}

}  // namespace
}  // namespace xtts::corpus
