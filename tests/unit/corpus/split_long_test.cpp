// features.too_long: split: which times are believed, where runs end, what the pieces are.
#include "corpus/split_long.hpp"

#include "corpus_checks.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

std::vector<TimedText> seconds_each(std::size_t count) {
  std::vector<TimedText> texts;
  for (std::size_t i = 0; i < count; ++i)
    texts.push_back(
        {static_cast<double>(i), static_cast<double>(i) + 0.9, "w" + std::to_string(i)});
  return texts;
}

std::vector<std::size_t> sizes(const std::vector<std::vector<TimedText>>& runs) {
  std::vector<std::size_t> found;
  for (const auto& run : runs) found.push_back(run.size());
  return found;
}

TEST(SplitLong, RunsAreAsLongAsTheyMayBe) {
  EXPECT_EQ(sizes(runs_within(seconds_each(7), 3.0)), (std::vector<std::size_t>{3, 3, 1}));
  EXPECT_EQ(sizes(runs_within(seconds_each(2), 3.0)), (std::vector<std::size_t>{2}));
  EXPECT_TRUE(runs_within({}, 3.0).empty());
}

TEST(SplitLong, RunsEndAtThePauseOfTheirLastThird) {
  auto texts = seconds_each(12);
  texts[7].end_s = 7.2;   // a pause of 0.8 s before word 8
  texts[2].end_s = 2.05;  // a longer one, too far to the left
  EXPECT_EQ(sizes(runs_within(texts, 9.0)), (std::vector<std::size_t>{8, 4}));
}

TEST(SplitLong, WhatIsTooLongByItselfStaysAlone) {
  auto texts = seconds_each(3);
  texts[1].end_s = 20.0;
  texts[2].start_s = 20.0, texts[2].end_s = 21.0;
  EXPECT_EQ(sizes(runs_within(texts, 3.0)), (std::vector<std::size_t>{1, 1, 1}));
}

Corpus split(const std::string& row, double longest_s = 3.0) {
  MemoryEnv env;
  env.add_file("/data/list.jsonl", row + "\n");
  env.add_file("/data/a.wav", "audio");
  auto corpus = discover({.env = env,
                          .data = {"/data"},
                          .config = {.train_split = 1.0, .validation_split = 0.0},
                          .split_above_s = longest_s});
  EXPECT_TRUE(corpus.ok()) << corpus.status().message();
  return corpus.ok() ? std::move(*corpus) : Corpus();
}

const std::string kSegments =
    R"("segments": [{"start": 0.2, "end": 1.8, "text": " Hello,", "id": 0}, {"start": 1.9, "end": 2.6, "text": " you."},)"
    R"( {"start": 3.4, "end": 5.0, "text": " Who goes"}, {"start": 5.0, "end": 5.9, "text": "there?"}])";

TEST(SplitLong, MakesClipsOfWhisperSegments) {
  const Corpus corpus = split(
      R"({"audio": "a.wav", "text": "all of it", "speaker": "ada", "take": 2, )" + kSegments + "}");
  ASSERT_EQ(ids_of(corpus), (Ids{"a_00000150-00002650", "a_00003350-00005900"}));
  const Clip& first = corpus.clips[0];
  EXPECT_EQ(first.text_raw, "Hello, you.");
  EXPECT_EQ(corpus.clips[1].text_normalized, "Who goes there?");
  EXPECT_EQ(first.segment, (Segment{0.2 - 0.05, 2.6 + 0.05}));
  EXPECT_EQ(first.speaker, "ada");
  EXPECT_EQ(first.extra_json, R"({"take":2})");
  EXPECT_TRUE(says(notes_of(corpus), "1 clip is longer than a record may be, and split into 2"));
}

TEST(SplitLong, WordsServeWhereSentencesAreTooLong) {
  const std::string row =
      R"({"audio": "a.wav", "segments": [{"start": 0, "end": 4.0, "text": "one two three four", "words": [)"
      R"({"word": " one", "start": 0, "end": 0.9}, {"word": " two", "start": 1, "end": 1.9},)"
      R"({"word": " three", "start": 2, "end": 2.8}, {"word": " four", "start": 3, "end": 4.0}]}]})";
  const Corpus corpus = split(row);
  ASSERT_EQ(corpus.clips.size(), 2U);
  EXPECT_EQ(corpus.clips[0].text_raw, "one two three");
  EXPECT_EQ(corpus.clips[1].text_raw, "four");
}

TEST(SplitLong, ReadsLhotseAlignments) {
  MemoryEnv env;
  env.add_file(
      "/data/x_recordings.jsonl",
      R"({"id": "r", "sources": [{"type": "file", "channels": [0], "source": "a.wav"}], "duration": 9})"
      "\n");
  env.add_file(
      "/data/x_supervisions.jsonl",
      R"({"id": "s", "recording_id": "r", "start": 1.0, "duration": 5.0, "channel": 0, "text": "a b", )"
      R"("alignment": {"word": [["a", 1.0, 2.0, 0.9], ["b", 4.0, 2.0]]}})"
      "\n");
  env.add_file("/data/a.wav", "audio");
  const auto corpus = discover({.env = env,
                                .data = {"/data"},
                                .config = {.train_split = 1.0, .validation_split = 0.0},
                                .split_above_s = 3.0});
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  EXPECT_EQ(ids_of(*corpus), (Ids{"s_00001000-00003050", "s_00003950-00006000"}));
}

TEST(SplitLong, LeavesAloneWhatItCannotBeSureOf) {
  const auto stays_whole = [](const std::string& fields) {
    const Corpus corpus = split(R"({"audio": "a.wav", "text": "x", )" + fields + "}");
    ASSERT_EQ(corpus.clips.size(), 1U) << fields;
    EXPECT_EQ(corpus.clips[0].text_raw, "x");
    EXPECT_FALSE(says(notes_of(corpus), "split"));
  };
  stays_whole(R"("take": 2)");
  stays_whole(R"("segments": "none")");
  stays_whole(R"("segments": [{"start": 0, "end": 2, "text": "short"}])");
  stays_whole(
      R"("segments": [{"start": 0, "end": 2.9, "text": "a"}, {"start": 2, "end": 5, "text": "overlaps"}])");
  stays_whole(
      R"("segments": [{"start": 0, "end": 2, "text": "a"}, {"start": 2, "text": "no end"}])");
  stays_whole(
      R"("segments": [{"start": 3, "end": 2, "text": "a"}, {"start": 4, "end": 5, "text": "b"}])");
  stays_whole(
      R"("segments": [{"start": 0, "end": 1e300, "text": "a"}, {"start": 4, "end": 5, "text": "b"}])");
  stays_whole(R"("segments": [[], {}, null])");
  // Times that count from the clip's own beginning, or belong to another clip.
  stays_whole(R"("start": 60.0, "end": 66.0, )" + kSegments);
}

TEST(SplitLong, IsOnlyDoneWhereItIsAskedFor) {
  MemoryEnv env;
  env.add_file("/data/list.jsonl", R"({"audio": "a.wav", "text": "x", )" + kSegments + "}\n");
  env.add_file("/data/a.wav", "audio");
  EXPECT_EQ(ids_of(discover_data(env)), Ids{"a"});
}

}  // namespace
}  // namespace xtts::corpus
