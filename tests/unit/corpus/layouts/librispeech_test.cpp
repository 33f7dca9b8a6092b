#include <gtest/gtest.h>

#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kLibriSpeechExample(
    "librispeech", "x",
    {{"dev-clean/84/121123/84-121123.trans.txt", "84-121123-0000 GO\n"},
     {"dev-clean/84/121123/84-121123-0000.flac", ""}},
    "LibriSpeech transcripts (x/dev-clean/84/121123/84-121123.trans.txt) are in DATA");

// A chapter in `folder`, with empty audio of these names.
void add_chapter(MemoryEnv& env, const std::string& folder, std::string_view lines,
                 const std::vector<std::string>& audio) {
  const std::string chapter(file_name(folder));
  const std::string speaker(file_name(parent_path(folder)));
  env.add_file(folder + "/" + speaker + "-" + chapter + ".trans.txt", lines);
  for (const std::string& name : audio) env.add_file(folder + "/" + name, "fLaC");
}

TEST(LibriSpeech, ReadsIdsTextsSpeakersAndSplits) {
  MemoryEnv env;
  add_chapter(env, "/data/LibriSpeech/train-clean-100/19/198",
              "19-198-0000 NORTHANGER ABBEY\n19-198-0001 THIS LITTLE WORK\n",
              {"19-198-0000.flac", "19-198-0001.flac"});
  add_chapter(env, "/data/LibriSpeech/dev-other/116/288045", "116-288045-0000 AS I\n",
              {"116-288045-0000.flac"});
  add_chapter(env, "/data/LibriSpeech/test-clean/61/70968", "61-70968-0000 HE BEGAN\n",
              {"61-70968-0000.wav"});
  env.add_file("/data/LibriSpeech/SPEAKERS.TXT", "; a comment\n");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "librispeech");
  EXPECT_EQ(ids_of(corpus),
            (Ids{"116-288045-0000", "19-198-0000", "19-198-0001", "61-70968-0000"}));
  EXPECT_EQ(problems_of(corpus), "");
  const Clip clip = clip_of(corpus, "19-198-0001");
  EXPECT_EQ(clip.source, "LibriSpeech/train-clean-100/19/198/19-198-0001.flac");
  EXPECT_EQ(clip.text_raw, "THIS LITTLE WORK");
  EXPECT_EQ(clip.text_normalized, "THIS LITTLE WORK");
  EXPECT_EQ(clip.speaker, "19");
  EXPECT_EQ(clip.language, "en");
  EXPECT_EQ(clip.split, Split::kTrain);
  EXPECT_EQ(clip_of(corpus, "116-288045-0000").split, Split::kValidation);
  EXPECT_EQ(clip_of(corpus, "61-70968-0000").split, Split::kTest);
  EXPECT_EQ(corpus.ignored_file_count, 1U) << "the lists are read, SPEAKERS.TXT is not";
  EXPECT_FALSE(says(notes_of(corpus), "normalized text")) << "there is only one text";
}

TEST(LibriSpeech, TheNearestFolderNamesTheSplitAndOthersNone) {
  MemoryEnv env;
  add_chapter(env, "/data/test-of-mine/dev-clean/1/2", "1-2-0 A\n", {"1-2-0.flac"});
  add_chapter(env, "/data/mine/3/4", "3-4-0 B\n", {"3-4-0.flac"});
  const Corpus corpus = discover_data(env, {.train_split = 0, .validation_split = 0});
  EXPECT_EQ(clip_of(corpus, "1-2-0").split, Split::kValidation);
  EXPECT_EQ(clip_of(corpus, "3-4-0").split, Split::kTest) << "the hash decides, with all for test";
}

TEST(LibriSpeech, TheNameOfDataMayBeTheSplitTheSpeakerOrTheChapter) {
  for (const std::string data :
       {"/c/train-other-500", "/c/train-other-500/19", "/c/train-other-500/19/198"}) {
    MemoryEnv env;
    add_chapter(env, "/c/train-other-500/19/198", "19-198-0 A\n", {"19-198-0.flac"});
    const auto corpus = discover(env, data, {.train_split = 0, .validation_split = 1});
    ASSERT_TRUE(corpus.ok()) << corpus.status().message();
    EXPECT_EQ(corpus->layout, "librispeech") << data;
    EXPECT_EQ(clip_of(*corpus, "19-198-0").speaker, "19") << data;
    const bool is_split = data.ends_with("500");
    EXPECT_EQ(clip_of(*corpus, "19-198-0").split, is_split ? Split::kTrain : Split::kValidation);
  }
}

TEST(LibriSpeech, EachUnusableLineIsNamedAndTheRestStays) {
  MemoryEnv env;
  std::string list = "1-2-0 GOOD\r\n";  // 1
  list += "\r\n";                       // 2
  list += "1-2-1 NO AUDIO\r\n";         // 3
  list += "1-2-0 AGAIN\r\n";            // 4
  list += "../2/1-2-0 CLIMBS\r\n";      // 5
  list += "1-2-2 CAF\xC9\r\n";          // 6
  list += "1-2-3\r\n";                  // 7
  list += "1-2-4\tWITH A TAB   \r\n";   // 8
  add_chapter(env, "/data/1/2", list, {"1-2-0.flac", "1-2-2.flac", "1-2-3.flac", "1-2-4.flac"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"1-2-0", "1-2-3", "1-2-4"}));
  EXPECT_EQ(clip_of(corpus, "1-2-0").text_raw, "GOOD");
  EXPECT_EQ(clip_of(corpus, "1-2-4").text_normalized, "WITH A TAB");
  EXPECT_EQ(problems_of(corpus),
            "1/2/1-2.trans.txt:3 1-2-1: no audio named 1-2-1 in 1/2/\n"
            "1/2/1-2.trans.txt:4 1-2-0: the same id is in line 1 of 1/2/1-2.trans.txt, which is "
            "used\n"
            "1/2/1-2.trans.txt:5 ../2/1-2-0: the id climbs out of its folder with '..'\n"
            "1/2/1-2.trans.txt:6 1-2-2: the line is not UTF-8 (byte 10); save it as UTF-8, or name "
            "its encoding, as in --encoding cp1256\n");
  EXPECT_TRUE(says(notes_of(corpus), "1 clip has no text"));
  EXPECT_TRUE(says(notes_of(corpus), "1 audio file is not used by the list"));
}

TEST(LibriSpeech, AnIdInTwoSplitsIsUsedOnce) {
  MemoryEnv env;
  add_chapter(env, "/data/dev-clean/1/2", "1-2-0 A\n", {"1-2-0.flac"});
  add_chapter(env, "/data/train-clean-100/1/2", "1-2-0 A\n", {"1-2-0.flac"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(clip_of(corpus, "1-2-0").source, "dev-clean/1/2/1-2-0.flac");
  EXPECT_EQ(problems_of(corpus),
            "train-clean-100/1/2/1-2.trans.txt:1 1-2-0: the same id is in line 1 of "
            "dev-clean/1/2/1-2.trans.txt, which is used; a clip can be in one split only\n");
}

TEST(LibriSpeech, AListThatCannotBeReadCostsItsChapterAlone) {
  MemoryEnv env;
  add_chapter(env, "/data/1/2", "1-2-0 A\n", {"1-2-0.flac"});
  add_chapter(env, "/data/1/3", "1-3-0 A\n", {"1-3-0.flac"});
  add_chapter(env, "/data/1/4",
              "\xFF\xFE"
              "A",
              {"1-4-0.flac"});
  env.add_file("/elsewhere/1-5.trans.txt", "1-5-0 SECRET\n");
  env.add_link("/data/1/5/1-5.trans.txt", "/elsewhere/1-5.trans.txt");
  env.set_hook([](testing::EnvOperation& operation) {
    const bool is_read = operation.call == testing::EnvCall::kOpenForRead;
    if (is_read && operation.path.ends_with("1-3.trans.txt"))
      return Status(StatusCode::kResource, "Input/output error");
    const bool fails = operation.call == testing::EnvCall::kList && operation.path == "/data/6";
    return fails ? Status(StatusCode::kResource, "Permission denied") : Status();
  });
  env.add_folder("/data/6");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"1-2-0"});
  ASSERT_EQ(corpus.problems.size(), 4U) << problems_of(corpus);
  EXPECT_EQ(corpus.problems[0].path, "1/3/1-3.trans.txt");
  EXPECT_EQ(corpus.problems[0].kind, RejectClass::kEnvironment);
  EXPECT_TRUE(says(corpus.problems[1].reason.detail, "the line is not UTF-8"));
  EXPECT_EQ(corpus.problems[1].kind, RejectClass::kInput);
  EXPECT_TRUE(says(corpus.problems[2].reason.detail, "leaves DATA"));
  EXPECT_EQ(corpus.problems[3].path, "6");
  EXPECT_EQ(corpus.problems[3].kind, RejectClass::kEnvironment);
}

TEST(LibriSpeech, NothingUsableSaysWhatWasExpected) {
  MemoryEnv env;
  add_chapter(env, "/data/1/2", "1-2-0 A\n", {});
  const Status empty = discover(env, "/data", {}).status();
  EXPECT_EQ(empty.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(says(empty.message(), "none of the 1 clip named in 1/2/1-2.trans.txt has audio"));
  MemoryEnv other;
  add_ljspeech(other, "a|x|x\n", {"a.wav"});
  const Status none = discover(other, "/data", {.layout = "librispeech"}).status();
  EXPECT_EQ(none.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(says(none.message(), "there is no SPEAKER-CHAPTER.trans.txt in /data"));
}

}  // namespace
}  // namespace xtts::corpus
