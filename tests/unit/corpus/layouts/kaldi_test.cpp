#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kKaldiExample("kaldi", "x",
                                  {{"wav.scp", "a a.wav\n"}, {"text", "a go\n"}, {"a.wav", ""}},
                                  "1 wav.scp is below DATA, the first in x/");

// Two recordings in DATA itself.
void add_kaldi(MemoryEnv& env) {
  env.add_file("/data/wav.scp", "r1 wav/one.wav\nr2 wav/two.flac\n");
  add_audio(env, {"wav/one.wav", "wav/two.flac"});
}

TEST(Kaldi, RecordingsAreUtterancesWhereThereAreNoSegments) {
  MemoryEnv env;
  add_kaldi(env);
  env.add_file("/data/text", "r1 hello  there\nr2\tworld\n");
  env.add_file("/data/utt2spk", "r1 anna\nr2 ben\n");
  env.add_file("/data/utt2lang", "r1 en\n");
  const Corpus corpus = discover_data(env, {.language = "fa"});
  EXPECT_EQ(corpus.layout, "kaldi");
  EXPECT_EQ(ids_of(corpus), (Ids{"r1", "r2"}));
  EXPECT_EQ(clip_of(corpus, "r1").source, "wav/one.wav");
  EXPECT_EQ(clip_of(corpus, "r1").text_raw, "hello  there");
  EXPECT_EQ(clip_of(corpus, "r2").text_raw, "world");
  EXPECT_EQ(clip_of(corpus, "r2").speaker, "ben");
  EXPECT_EQ(clip_of(corpus, "r1").language, "en");
  EXPECT_EQ(clip_of(corpus, "r2").language, "fa");
  EXPECT_FALSE(clip_of(corpus, "r1").segment);
  EXPECT_EQ(corpus.ignored_file_count, 0U) << "text and its like are read";
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_TRUE(says(notes_of(corpus), "wav.scp is in DATA (layout kaldi)"));
}

TEST(Kaldi, SegmentsAreTheUtterances) {
  MemoryEnv env;
  add_kaldi(env);
  env.add_file("/data/segments", "u1 r1 0.5 1.25\nu2 r1 1.25 -1\nu3 r2 0 2 1\n");
  env.add_file("/data/text", "u1 one\nu3 three\nr1 no utterance\n");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"u1", "u2", "u3"}));
  EXPECT_EQ(clip_of(corpus, "u1").segment, (Segment{0.5, 1.25}));
  EXPECT_EQ(clip_of(corpus, "u2").segment, (Segment{1.25, std::nullopt}));
  EXPECT_EQ(clip_of(corpus, "u2").source, "wav/one.wav");
  EXPECT_EQ(clip_of(corpus, "u2").text_raw, "") << "without text, but there";
  EXPECT_EQ(clip_of(corpus, "u3").source, "wav/two.flac");
  EXPECT_TRUE(says(notes_of(corpus), "1 line of text is of utterances that do not exist"));
  EXPECT_EQ(problems_of(corpus), "");
}

TEST(Kaldi, PipesAreNeverRun) {
  MemoryEnv env;
  add_kaldi(env);
  env.add_file("/data/wav.scp",
               "r1 wav/one.wav\nr2 flac -c -d -s wav/two.flac |\nr3 touch /tmp/owned|\n");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"r1"});
  ASSERT_EQ(corpus.problems.size(), 2U) << problems_of(corpus);
  EXPECT_EQ(corpus.problems[0].kind, RejectClass::kInput);
  EXPECT_EQ(corpus.problems[0].line, 2U);
  EXPECT_TRUE(says(corpus.problems[0].reason.detail, "pipes are never run; name the file"));
  EXPECT_EQ(corpus.problems[1].id, "r3");
}

TEST(Kaldi, SegmentsOfAPipeAreProblemsOfTheirOwn) {
  MemoryEnv env;
  add_kaldi(env);
  env.add_file("/data/wav.scp", "r1 wav/one.wav\nr2 sph2pipe x |\n");
  env.add_file("/data/segments", "u1 r1 0 1\nu2 r2 0 1\nu3 r2 1 2\n");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"u1"});
  EXPECT_EQ(corpus.problems.size(), 3U);
  EXPECT_TRUE(says(problems_of(corpus),
                   "segments:3 u3: its recording cannot be used: line 2 of wav.scp\n"));
}

TEST(Kaldi, EachUnusableSegmentIsNamed) {
  MemoryEnv env;
  add_kaldi(env);
  env.add_file("/data/segments",
               "good r1 0 1\n"     // 1
               "r1 0 1\n"          // 2
               "a r9 0 1\n"        // 3
               "b r1 1 0.5\n"      // 4
               "c r1 -1 2\n"       // 5
               "d r1 nan 2\n"      // 6
               "e r1 0 1e300\n"    // 7
               "f r1 zero one\n"   // 8
               "good r1 2 3\n"     // 9
               "g\xFF r1 0 1\n");  // 10
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"good"});
  EXPECT_EQ(clip_of(corpus, "good").segment, (Segment{0.0, 1.0}));
  const std::string fault = "is a segment that ends before it begins, or begins before its source";
  EXPECT_EQ(problems_of(corpus),
            "segments:2 r1: the line is not UTTERANCE RECORDING START END\n"
            "segments:3 a: there is no recording r9 in wav.scp\n"
            "segments:4 b: " +
                fault + "\n" + "segments:5 c: " + fault + "\n" + "segments:6 d: " + fault + "\n" +
                "segments:7 e: is a segment that ends after 115 days: its times are in seconds\n"
                "segments:8 f: the line is not UTTERANCE RECORDING START END\n"
                "segments:9 good: the same id is in line 1 of segments, which is used\n"
                "segments:10 g%FF: the line is not UTF-8 (byte 2); save it as UTF-8, or name its "
                "encoding, as in --encoding cp1256\n");
}

TEST(Kaldi, AnUtteranceWhoseTextIsBrokenGoesWithIt) {
  MemoryEnv env;
  add_kaldi(env);
  env.add_file("/data/text", "r1 caf\xE9\nr2 good\nr2 again\n");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"r2"});
  EXPECT_EQ(clip_of(corpus, "r2").text_raw, "good");
  EXPECT_EQ(problems_of(corpus),
            "text:1 r1: the line is not UTF-8 (byte 7); save it as UTF-8, or name its encoding, as "
            "in --encoding cp1256\n"
            "text:3 r2: the same utterance is in line 2, which is used\n");
}

TEST(Kaldi, PathsMayBeAbsoluteInsideDataOnly) {
  MemoryEnv env;
  add_audio(env, {"wav/one.wav", "data/train/wav/one.wav"});
  env.add_file("/etc/one.wav", "");
  env.add_file("/data/data/train/wav.scp",
               "a /data/wav/one.wav\n"
               "b ../../wav/one.wav\n"
               "c wav/one.wav\n"
               "d /etc/one.wav\n"
               "e ../../../etc/one.wav\n");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"a", "b", "c"}));
  EXPECT_EQ(clip_of(corpus, "a").source, "wav/one.wav") << "not what is beside the list";
  EXPECT_EQ(clip_of(corpus, "b").source, "wav/one.wav");
  EXPECT_EQ(clip_of(corpus, "c").source, "data/train/wav/one.wav");
  EXPECT_EQ(corpus.problems.size(), 2U);
  EXPECT_TRUE(says(problems_of(corpus), "wav.scp:4 d: /etc/one.wav leaves DATA (/data)"));
  EXPECT_TRUE(says(problems_of(corpus), "wav.scp:5 e: ../../../etc/one.wav leaves DATA"));
}

TEST(Kaldi, SeveralFoldersGiveTheSplits) {
  MemoryEnv env;
  for (const std::string name : {"train_clean_5", "dev", "eval2000", "other"}) {
    env.add_file("/data/data/" + name + "/wav.scp", name + " audio/" + name + ".wav\n");
    env.add_file("/data/data/" + name + "/text", name + " words\n");
    add_audio(env, {"audio/" + name + ".wav"});
  }
  env.add_file("/data/data/dev/split2/1/wav.scp", "dev audio/dev.wav\n");
  const Corpus corpus = discover_data(env, {.train_split = 1.0, .validation_split = 0.0});
  EXPECT_EQ(ids_of(corpus), (Ids{"dev", "eval2000", "other", "train_clean_5"}));
  EXPECT_EQ(clip_of(corpus, "train_clean_5").split, Split::kTrain);
  EXPECT_EQ(clip_of(corpus, "dev").split, Split::kValidation);
  EXPECT_EQ(clip_of(corpus, "eval2000").split, Split::kTest);
  EXPECT_EQ(clip_of(corpus, "other").split, Split::kTrain) << "by the rule for all corpora";
  EXPECT_EQ(problems_of(corpus), "") << "a folder within a data folder is a part of it";
}

TEST(Kaldi, OneFolderIsAllOfTheCorpus) {
  MemoryEnv env;
  env.add_file("/data/test/wav.scp", "a a.wav\n");
  add_audio(env, {"test/a.wav"});
  EXPECT_EQ(clip_of(discover_data(env, {.train_split = 1.0, .validation_split = 0.0}), "a").split,
            Split::kTrain);
}

TEST(Kaldi, AListThatWasRefusedRefusesTheCorpus) {
  MemoryEnv env;
  add_kaldi(env);
  env.add_file("/etc/text", "r1 secret\n");
  env.add_link("/data/text", "/etc/text");
  EXPECT_TRUE(says(refusal_of(env), "text is a symbolic link that leaves DATA"));
}

TEST(Kaldi, LineEndsAndMarksDoNotMatter) {
  MemoryEnv env;
  add_kaldi(env);
  env.add_file("/data/wav.scp", "\xEF\xBB\xBFr1 wav/one.wav\r\n\r\n  r2   wav/two.flac  \r\n");
  env.add_file("/data/text", "r1 one\r\nr2 two\r\n");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"r1", "r2"}));
  EXPECT_EQ(clip_of(corpus, "r2").text_raw, "two");
  EXPECT_EQ(problems_of(corpus), "");
}

TEST(Kaldi, HostileListsAreProblems) {
  MemoryEnv env;
  add_kaldi(env);
  std::string list = "r1 wav/one.wav\nalone\n";
  list += std::string("nul wav/\0.wav\n", 14);
  list += "long " + std::string(1U << 20U, 'x') + "\n";
  env.add_file("/data/wav.scp", list);
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"r1"});
  EXPECT_EQ(
      problems_of(corpus),
      "wav.scp:2 alone: the line has one field; expected RECORDING PATH\n"
      "wav.scp:3 nul: the line holds a NUL byte: where it is UTF-16, give --encoding UTF-16LE\n"
      "wav.scp:4 long: the line has 1,048,581 bytes of text; at most 65,536 bytes are "
      "allowed\n");
}

TEST(Kaldi, IsRefusedWithoutWavScp) {
  MemoryEnv env;
  add_audio(env, {"a.wav"});
  env.add_file("/data/text", "a x\n");
  EXPECT_EQ(layout_of(env), "folder");
  EXPECT_TRUE(says(refusal_of(env, {.layout = "kaldi"}), "no wav.scp in /data or below"));
}

TEST(Kaldi, OneTextForEachClipIsNothingToNote) {
  MemoryEnv env;
  env.add_file("/data/wav.scp", "u a.wav\n");
  env.add_file("/data/text", "u text\n");
  add_audio(env, {"a.wav"});
  EXPECT_FALSE(says(notes_of(discover_data(env)), "normalized"));
}

}  // namespace
}  // namespace xtts::corpus
