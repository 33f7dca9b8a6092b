#include <gtest/gtest.h>

#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::EnvCall;
using testing::EnvOperation;
using testing::MemoryEnv;

const LayoutExample kLibriTtsExample(
    "libritts", "x",
    {{"dev-clean/84/121123/84_121123_000000_000000.normalized.txt", "Go."},
     {"dev-clean/84/121123/84_121123_000000_000000.wav", ""}},
    "LibriTTS transcripts (x/dev-clean/84/121123/84_121123_000000_000000.normalized.txt) are in "
    "DATA");

constexpr auto kChapter = "/data/train-clean-100/19/198/";

// An utterance with both texts.
void add_utterance(MemoryEnv& env, const std::string& stem) {
  env.add_file(stem + ".wav", "RIFF");
  env.add_file(stem + ".original.txt", "Chapter 1\n");
  env.add_file(stem + ".normalized.txt", "Chapter one\n");
}

TEST(LibriTts, ReadsBothTextsSpeakersAndSplits) {
  MemoryEnv env;
  add_utterance(env, "/data/LibriTTS_R/train-clean-100/19/198/19_198_000000_000000");
  add_utterance(env, "/data/LibriTTS_R/dev-clean/20/5/20_5_000001_000000");
  env.add_file("/data/LibriTTS_R/dev-clean/20/5/20_5.trans.tsv", "not read");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "libritts");
  EXPECT_EQ(ids_of(corpus), (Ids{"19_198_000000_000000", "20_5_000001_000000"}));
  const Clip clip = clip_of(corpus, "19_198_000000_000000");
  EXPECT_EQ(clip.source, "LibriTTS_R/train-clean-100/19/198/19_198_000000_000000.wav");
  EXPECT_EQ(clip.text_raw, "Chapter 1");
  EXPECT_EQ(clip.text_normalized, "Chapter one");
  EXPECT_EQ(clip.speaker, "19");
  EXPECT_EQ(clip.language, "en");
  EXPECT_EQ(clip.split, Split::kTrain);
  EXPECT_EQ(clip_of(corpus, "20_5_000001_000000").split, Split::kValidation);
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_EQ(corpus.ignored_file_count, 1U) << "20_5.trans.tsv; transcripts were read";
}

TEST(LibriTts, EitherTextMayBeMissingAndBoth) {
  MemoryEnv env;
  const std::string stem = kChapter + std::string("19_198_00000");
  env.add_file(stem + "1.wav", "");
  env.add_file(stem + "1.original.txt", "Of 1798");
  env.add_file(stem + "2.wav", "");
  env.add_file(stem + "2.normalized.txt", "of two\nlines\n");
  env.add_file(stem + "3.flac", "");
  env.add_file(kChapter + std::string("noise.wav"), "");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"19_198_000001", "19_198_000002", "19_198_000003"}));
  EXPECT_EQ(clip_of(corpus, "19_198_000001").text_normalized, "Of 1798");
  EXPECT_EQ(clip_of(corpus, "19_198_000002").text_raw, "");
  EXPECT_EQ(clip_of(corpus, "19_198_000002").text_normalized, "of two lines");
  EXPECT_EQ(clip_of(corpus, "19_198_000003").speaker, "19");
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_TRUE(says(notes_of(corpus), "1 clip has no text"));
  EXPECT_TRUE(says(notes_of(corpus), "1 clip has no normalized text: its raw text is used"));
  EXPECT_TRUE(says(notes_of(corpus), "1 audio file is not used by the list")) << "noise.wav";
}

TEST(LibriTts, ABadTranscriptTakesItsClipWithIt) {
  MemoryEnv env;
  for (const auto name : {"1", "2", "3", "4", "5"})
    add_utterance(env, kChapter + std::string("19_198_") + name);
  env.add_file(kChapter + std::string("19_198_2.original.txt"), "caf\xE9");
  env.add_file(kChapter + std::string("19_198_3.normalized.txt"), std::string(1U << 20U, 'a'));
  env.add_file("/elsewhere.txt", "secret");
  env.add_link(kChapter + std::string("19_198_5.normalized.txt"), "/elsewhere.txt");
  env.set_hook([](EnvOperation& operation) {
    const bool fails = operation.call == EnvCall::kOpenForRead &&
                       operation.path.ends_with("19_198_4.normalized.txt");
    return fails ? Status(StatusCode::kResource, "Permission denied") : Status();
  });
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"19_198_1"});
  ASSERT_EQ(corpus.problems.size(), 4U) << problems_of(corpus);
  EXPECT_EQ(corpus.problems[0].path, "train-clean-100/19/198/19_198_2.original.txt");
  EXPECT_EQ(corpus.problems[0].id, "19_198_2");
  EXPECT_TRUE(says(corpus.problems[0].reason.detail, "the transcript is not UTF-8"));
  EXPECT_EQ(corpus.problems[1].path, "train-clean-100/19/198/19_198_3.normalized.txt");
  EXPECT_EQ(corpus.problems[1].kind, RejectClass::kInput);
  EXPECT_EQ(corpus.problems[2].kind, RejectClass::kEnvironment);
  EXPECT_TRUE(
      says(corpus.problems[3].reason.detail, "the transcript is a symbolic link that leaves"));
}

TEST(LibriTts, ATranscriptWithoutAudioIsAProblem) {
  MemoryEnv env;
  add_utterance(env, kChapter + std::string("19_198_1"));
  env.add_file(kChapter + std::string("19_198_2.original.txt"), "A");
  env.add_file(kChapter + std::string("19_198_2.normalized.txt"), "A");
  env.add_file("/elsewhere.wav", "");
  env.add_link(kChapter + std::string("19_198_3.wav"), "/elsewhere.wav");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"19_198_1"});
  EXPECT_EQ(problems_of(corpus),
            "train-clean-100/19/198/19_198_2.original.txt 19_198_2: no audio named 19_198_2 in "
            "train-clean-100/19/198/\n"
            "train-clean-100/19/198/19_198_3.wav 19_198_3: train-clean-100/19/198/19_198_3.wav is "
            "a symbolic link that leaves DATA (to /elsewhere.wav); put the target into DATA, "
            "build from the folder that holds it, or give --audio-root /\n");
  EXPECT_FALSE(corpus.problems[0].line.has_value());
}

TEST(LibriTts, OneIdInTwoReleasesIsUsedOnce) {
  MemoryEnv env;
  add_utterance(env, "/data/LibriTTS/dev-clean/19/198/19_198_1");
  add_utterance(env, "/data/LibriTTS_R/dev-clean/19/198/19_198_1");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(clip_of(corpus, "19_198_1").source, "LibriTTS/dev-clean/19/198/19_198_1.wav");
  EXPECT_EQ(problems_of(corpus),
            "LibriTTS_R/dev-clean/19/198/19_198_1.wav 19_198_1: the same id is in "
            "LibriTTS/dev-clean/19/198/19_198_1.wav, which is used\n");
}

TEST(LibriTts, AudioThatIsAllRefusedSaysWhy) {
  MemoryEnv env;
  env.add_file(kChapter + std::string("19_198_1.normalized.txt"), "A");
  const Status status = discover(env, "/data", {}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(says(status.message(),
                   "none of the 1 clip in /data can be used; expected SPEAKER/CHAPTER/ID.wav with "
                   "ID.normalized.txt (the first, train-clean-100/19/198/19_198_1.normalized.txt: "
                   "no audio named 19_198_1"))
      << status.message();
}

}  // namespace
}  // namespace xtts::corpus
