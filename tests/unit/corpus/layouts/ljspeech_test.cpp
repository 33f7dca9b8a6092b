#include <gtest/gtest.h>

#include "formats/rules.hpp"
#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kLjspeechExample("ljspeech", "",
                                     {{"metadata.csv", "a|Go.|go\n"}, {"wavs/a.wav", ""}},
                                     "metadata.csv is in DATA");

Status failure(std::string_view list, const std::vector<std::string>& audio) {
  MemoryEnv env;
  add_ljspeech(env, list, audio);
  return discover(env, "/data", {}).status();
}

TEST(Ljspeech, ReadsIdsTextsAndSources) {
  MemoryEnv env;
  add_ljspeech(env, "a|In 1492|In fourteen ninety-two\nb|only|only\n", {"a.wav", "b.flac"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "ljspeech");
  EXPECT_EQ(ids_of(corpus), (Ids{"a", "b"}));
  EXPECT_EQ(clip_of(corpus, "a").text_raw, "In 1492");
  EXPECT_EQ(clip_of(corpus, "a").text_normalized, "In fourteen ninety-two");
  EXPECT_EQ(clip_of(corpus, "b").source, "wavs/b.flac");
  EXPECT_EQ(clip_of(corpus, "b").source_bytes, 4U);
  EXPECT_TRUE(corpus.has_text);
  EXPECT_TRUE(corpus.problems.empty()) << problems_of(corpus);
}

TEST(Ljspeech, ByteOrderMarkLineEndsAndTheLastLineDoNotMatter) {
  const auto texts = [](std::string_view list) {
    MemoryEnv env;
    add_ljspeech(env, list, {"a.wav", "b.wav"});
    const Corpus corpus = discover_data(env);
    return clip_of(corpus, "a").text_normalized + "/" + clip_of(corpus, "b").text_normalized;
  };
  const std::string expected = "one/two";
  EXPECT_EQ(texts("a|one|one\nb|two|two\n"), expected);
  EXPECT_EQ(texts("a|one|one\nb|two|two"), expected);
  EXPECT_EQ(texts("\xEF\xBB\xBF"
                  "a|one|one\r\nb|two|two\r\n"),
            expected);
  EXPECT_EQ(texts("a|one|one\rb|two|two\r"), expected);
  EXPECT_EQ(texts("\n\na|one\n  \nb|two\n\n"), expected);
}

TEST(Ljspeech, AHeaderLineIsNotAClip) {
  MemoryEnv env;
  add_ljspeech(env, "id|transcription|normalized_transcription\na|A|a\n", {"a.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"a"});
  EXPECT_TRUE(corpus.problems.empty());
  EXPECT_TRUE(says(notes_of(corpus), "metadata.csv has a header line"));
}

TEST(Ljspeech, AClipMayBeCalledLikeAHeader) {
  MemoryEnv env;
  add_ljspeech(env, "id|text\na|b\n", {"id.wav", "a.wav"});
  EXPECT_EQ(ids_of(discover_data(env)), (Ids{"a", "id"}));
}

TEST(Ljspeech, EachUnusableLineIsNamedAndTheRestStays) {
  MemoryEnv env;
  std::string list = "good|yes|yes\n";                   // 1
  list += "gone|no|no\n";                                // 2
  list += "one field\n";                                 // 3
  list += "|no id|no id\n";                              // 4
  list += "/etc/passwd|x|x\n";                           // 5
  list += "../wavs/good|x|x\n";                          // 6
  list += std::string("nul|a\0b|x\n", 10);               // 7
  list += "latin|caf\xE9|cafe\n";                        // 8
  list += "bell\a|x|x\n";                                // 9
  list += "long|" + std::string(1U << 20U, 'a') + "\n";  // 10
  list += "good|again|again\n";                          // 11
  list += "good|yes|yes\n";                              // 12
  add_ljspeech(env, list, {"good.wav", "nul.wav", "latin.wav", "long.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"good"});
  EXPECT_EQ(clip_of(corpus, "good").text_raw, "yes") << "the first of equal ids stays";
  EXPECT_EQ(
      problems_of(corpus),
      "metadata.csv:2 gone: no audio named gone in wavs/\n"
      "metadata.csv:3 : the line has one field; expected id|text|normalized text\n"
      "metadata.csv:4 : the id is empty\n"
      "metadata.csv:5 /etc/passwd: the id is an absolute path; name audio relative to the audio "
      "folder\n"
      "metadata.csv:6 ../wavs/good: the id climbs out of its folder with '..'\n"
      "metadata.csv:7 : the line holds a NUL byte: where it is UTF-16, give --encoding UTF-16LE\n"
      "metadata.csv:8 : the line is not UTF-8 (byte 10); save it as UTF-8, or name its encoding, "
      "as in --encoding cp1256\n"
      "metadata.csv:9 bell%07: the id holds a control character\n"
      "metadata.csv:10 : the line has 1,048,581 bytes of text; at most 65,536 bytes are allowed\n"
      "metadata.csv:11 good: the same id is in line 1 of metadata.csv, which is used\n"
      "metadata.csv:12 good: the same id is in line 1 of metadata.csv, which is used\n");
  for (const Reject& problem : corpus.problems) {
    EXPECT_EQ(problem.kind, RejectClass::kInput);
    EXPECT_EQ(formats::info_of(problem.reason.rule).stage, formats::Stage::kList);
  }
}

TEST(Ljspeech, ClipsWithoutTextAreKeptAndCounted) {
  MemoryEnv env;
  add_ljspeech(env, "a|x|x\nb||\nc|raw|\n", {"a.wav", "b.wav", "c.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"a", "b", "c"}));
  EXPECT_EQ(clip_of(corpus, "c").text_normalized, "raw");
  EXPECT_TRUE(says(notes_of(corpus), "1 clip has no text"));
  EXPECT_TRUE(says(notes_of(corpus), "1 clip has no normalized text"));
}

TEST(Ljspeech, OddNamesAreCarriedIntact) {
  MemoryEnv env;
  const Ids names = {"%s%n%d",    "-leading-dash",      "Case", "case", "with space",
                     "سلام دنیا", std::string(240, 'a')};
  std::string list;
  for (const std::string& name : names) {
    list += name + "|x|x\n";
    env.add_file("/data/wavs/" + name + ".wav", "");
  }
  env.add_file("/data/metadata.csv", list);
  const Corpus corpus = discover_data(env);
  Ids sorted = names;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(ids_of(corpus), sorted);
  EXPECT_TRUE(says(notes_of(corpus), "(Case, case)"));
}

TEST(Ljspeech, UnlistedAudioAndRivalFormatsAreNoted) {
  MemoryEnv env;
  add_ljspeech(env, "a|x|x\n", {"a.mp3", "a.flac", "stray.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(clip_of(corpus, "a").source, "wavs/a.flac");
  EXPECT_TRUE(says(notes_of(corpus), "1 clip is there in several audio formats"));
  EXPECT_TRUE(says(notes_of(corpus), "2 audio files are not used by the list"));
}

TEST(Ljspeech, AListThatNamesNothingThatExistsSaysSo) {
  std::string list;
  for (int i = 0; i < 13'100; ++i) list += "LJ" + std::to_string(i) + "|x|x\n";
  const Status status = failure(list, {"other.wav"});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(
      says(status.message(), "none of the 13,100 clips named in metadata.csv has audio in wavs/"));
}

TEST(Ljspeech, AListThatIsNoneSaysWhy) {
  EXPECT_TRUE(says(failure("", {"a.wav"}).message(), "metadata.csv holds no line"));
  EXPECT_TRUE(says(failure("a.wav,hello\n", {"a.wav"}).message(), "one field"));
  EXPECT_TRUE(says(failure("a|x|x\n", {}).message(), "there is no audio file in /data at all"));
}

TEST(Ljspeech, AudioFolderThatLeavesDataIsTheReasonGiven) {
  MemoryEnv env;
  env.add_file("/data/metadata.csv", "a|x|x\nb|x|x\n");
  env.add_file("/disk/wavs/a.wav", "");
  env.add_link("/data/wavs", "/disk/wavs");
  EXPECT_TRUE(says(refusal_of(env), "wavs is a symbolic link that leaves DATA (to /disk/wavs)"));
}

TEST(Ljspeech, AListThatLeavesDataIsNotRead) {
  MemoryEnv env;
  env.add_file("/data/wavs/a.wav", "");
  env.add_file("/etc/metadata.csv", "a|secret|secret\n");
  env.add_link("/data/metadata.csv", "/etc/metadata.csv");
  EXPECT_TRUE(says(refusal_of(env), "leaves DATA"));
}

TEST(Ljspeech, AListBehindALinkThatLeavesDataIsNotRead) {
  MemoryEnv env;
  env.add_file("/data/wavs/a.wav", "");
  env.add_file("/etc/lists/train.csv", "a|secret|secret\n");
  env.add_link("/data/lists", "/etc/lists");
  bool is_read = false;
  env.set_hook([&](testing::EnvOperation& operation) {
    is_read |= operation.call == testing::EnvCall::kOpenForRead;
    return Status();
  });
  EXPECT_TRUE(says(refusal_of(env, {.metadata_train_file = "lists/train.csv"}),
                   "lists is a symbolic link that leaves DATA"));
  EXPECT_FALSE(is_read);
}

TEST(Ljspeech, ClipsInAFolderThatCannotBeListedAreTriedAgainByLaterBuilds) {
  MemoryEnv env;
  add_ljspeech(env, "a|x\nclosed/b|x\n", {"a.wav", "closed/b.wav"});
  env.set_hook([](testing::EnvOperation& operation) {
    const bool fails =
        operation.call == testing::EnvCall::kList && operation.path == "/data/wavs/closed";
    return fails ? Status(StatusCode::kResource, "Permission denied") : Status();
  });
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"a"});
  ASSERT_EQ(corpus.problems.size(), 1U);
  EXPECT_EQ(corpus.problems[0].kind, RejectClass::kEnvironment);
  EXPECT_TRUE(says(problems_of(corpus), "closed/b: wavs/closed cannot be listed: Permission"));
}

TEST(Ljspeech, AnAudioFolderLinkedInsideDataIsFollowed) {
  MemoryEnv env;
  env.add_file("/data/metadata.csv", "a|x|x\n");
  env.add_file("/data/audio22k/a.wav", "");
  env.add_link("/data/wavs", "audio22k");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"a"});
  EXPECT_EQ(clip_of(corpus, "a").source, "audio22k/a.wav");
}

TEST(Ljspeech, TrainAndEvalListsDecideTheSplits) {
  MemoryEnv env;
  env.add_file("/data/train.csv", "a|x|x\nb|x|x\nshared|x|x\n");
  env.add_file("/data/eval.csv", "c|x|x\nshared|x|x\n");
  for (const auto name : {"a", "b", "shared"})
    env.add_file("/data/wt/" + std::string(name) + ".wav", "");
  for (const auto name : {"c", "shared"})
    env.add_file("/data/we/" + std::string(name) + ".wav", "");
  const Corpus corpus = discover_data(env, {.metadata_train_file = "train.csv",
                                            .metadata_eval_file = "eval.csv",
                                            .wavs_train_folder = "wt",
                                            .wavs_eval_folder = "we"});
  EXPECT_EQ(ids_of(corpus), (Ids{"a", "b", "c", "shared"}));
  EXPECT_EQ(clip_of(corpus, "a").split, Split::kTrain);
  EXPECT_EQ(clip_of(corpus, "shared").split, Split::kTrain);
  EXPECT_EQ(clip_of(corpus, "c").split, Split::kValidation);
  EXPECT_EQ(clip_of(corpus, "c").source, "we/c.wav");
  EXPECT_EQ(problems_of(corpus),
            "eval.csv:2 shared: the same id is in line 3 of train.csv, which is used; "
            "a clip can be in one split only\n");
}

TEST(Ljspeech, ASpeakerColumnIsRead) {
  MemoryEnv env;
  env.add_file("/data/metadata_flac.csv",
               "audio_file|text|transcription|speaker_name\nwavs/a.flac|1|one|anna\n");
  env.add_file("/data/wavs/a.flac", "");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"a"});
  EXPECT_EQ(clip_of(corpus, "a").speaker, "anna");
  EXPECT_EQ(clip_of(corpus, "a").text_normalized, "one");
}

TEST(Ljspeech, NothingIsNotedOfACorpusThatLacksNothing) {
  for (const auto* list : {"a|Dr. X|doctor x\n", "a|one text\n", "a|raw only|\n"}) {
    MemoryEnv env;
    add_ljspeech(env, list, {"a.wav"});
    EXPECT_EQ(notes_of(discover_data(env)),
              "metadata.csv is in DATA (layout ljspeech)\nno clip is in the validation split\n")
        << list;
  }
}

TEST(Ljspeech, WhereAudioIsLookedForIsSaidWhereSomeIsMissing) {
  MemoryEnv env;
  add_ljspeech(env, "a|x|x\nb|y|y\nc|z|z\n", {"a.wav"});
  EXPECT_TRUE(says(notes_of(discover_data(env)),
                   "2 clips of metadata.csv have no audio: it is looked for in wavs/, beside the "
                   "list and in the data folder\n"));
}

}  // namespace
}  // namespace xtts::corpus
