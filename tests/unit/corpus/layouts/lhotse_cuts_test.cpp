#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/gzip_bytes.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kLhotseCutsExample(
    "lhotse_cuts", "",
    {{"cuts.jsonl",
      R"({"id": "c", "start": 0, "duration": 1, "recording": {"duration": 1, "sources": )"
      R"([{"type": "file", "source": "a.wav"}]}, "supervisions": [{"id": "s", "text": "go"}]})"},
     {"a.wav", ""}},
    "cuts.jsonl is in DATA");

std::string recording_json(const std::string& source, const std::string& more = "") {
  return R"("recording": {"id": "r", "sources": [{"type": "file", "channels": [0], "source": ")" +
         source + R"("}], "sampling_rate": 16000, "num_samples": 160000, "duration": 10.0, )" +
         more + R"("channel_ids": [0]})";
}

std::string cut_line(const std::string& id, double start, double duration,
                     const std::string& supervisions, const std::string& more) {
  return R"({"id": ")" + id + R"(", "start": )" + std::to_string(start) + R"(, "duration": )" +
         std::to_string(duration) + R"(, "channel": 0, "supervisions": [)" + supervisions + "], " +
         more + "}\n";
}

std::string supervision_json(const std::string& id, double start, double duration,
                             const std::string& speaker) {
  return R"({"id": ")" + id + R"(", "recording_id": "r", "start": )" + std::to_string(start) +
         R"(, "duration": )" + std::to_string(duration) + R"(, "channel": 0, "text": "text of )" +
         id + R"(", "language": "en", "speaker": ")" + speaker +
         R"(", "gender": "F", "custom": {"snr": 20}})";
}

TEST(LhotseCuts, ACutIsAPartOfItsRecording) {
  MemoryEnv env;
  env.add_file(
      "/data/cuts.jsonl",
      cut_line("c-1", 2.5, 3, supervision_json("s1", 0, 3, "ann"),
               recording_json("wavs/a.wav") + R"(, "custom": {"mos": 4}, "type": "MonoCut")") +
          cut_line("c-2", 0, 10, "", recording_json("wavs/a.wav") + R"(, "type": "MonoCut")"));
  add_audio(env, {"wavs/a.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "lhotse_cuts");
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_EQ(ids_of(corpus), (Ids{"c-1", "c-2"}));
  const Clip part = clip_of(corpus, "c-1");
  EXPECT_EQ(part.segment, (Segment{2.5, 5.5}));
  EXPECT_EQ(part.text_raw, "text of s1");
  EXPECT_EQ(part.speaker, "ann");
  EXPECT_EQ(part.language, "en");
  EXPECT_EQ(part.extra_json, R"({"custom":{"snr":20},"cut_custom":{"mos":4},"gender":"F"})");
  EXPECT_FALSE(clip_of(corpus, "c-2").segment) << "the whole recording";
}

TEST(LhotseCuts, SeveralSupervisionsAreAClipEach) {
  MemoryEnv env;
  const std::string both =
      supervision_json("s1", 0.5, 2, "ann") + "," + supervision_json("s2", 3, 9, "bob");
  env.add_file(
      "/data/train_cuts.jsonl.gz",
      gzip_bytes(cut_line("c", 1, 6, both, recording_json("a.wav") + R"(, "type": "MonoCut")")));
  add_audio(env, {"a.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"s1", "s2"}));
  EXPECT_EQ(clip_of(corpus, "s1").segment, (Segment{1.5, 3.5}));
  EXPECT_EQ(clip_of(corpus, "s2").segment, (Segment{4, 7})) << "a cut ends its supervisions";
  EXPECT_EQ(clip_of(corpus, "s2").speaker, "bob");
}

TEST(LhotseCuts, SeveralListsAreSplits) {
  MemoryEnv env;
  for (const std::string name : {"train", "dev"}) {
    env.add_file("/data/cuts_" + name + ".jsonl",
                 cut_line(name, 0, 10, "", recording_json(name + ".wav")));
    add_audio(env, {name + ".wav"});
  }
  EXPECT_EQ(clip_of(discover_data(env), "dev").split, Split::kValidation);
}

TEST(LhotseCuts, WhatIsNoPartOfAFileIsRefusedWithItsReason) {
  MemoryEnv env;
  env.add_file("/data/cuts.jsonl",
               cut_line("good", 0, 10, "", recording_json("a.wav")) +
                   R"({"id": "mix", "type": "MixedCut", "tracks": []})"
                   "\n" +
                   cut_line("features", 0, 1, "", R"("features": {}, "type": "MonoCut")") +
                   cut_line("speed", 0, 1, "",
                            recording_json("a.wav", R"("transforms": [{"name": "Speed"}], )")) +
                   R"({"id": "times", )" + recording_json("a.wav") + "}\n");
  add_audio(env, {"a.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"good"}));
  const std::string problems = problems_of(corpus);
  for (const std::string_view reason :
       {"cuts.jsonl:2 mix: the cut is a MixedCut, which would have to be mixed",
        "cuts.jsonl:3 features: the cut has no recording",
        "cuts.jsonl:4 speed: the recording has transforms",
        "cuts.jsonl:5 times: the cut has no start or duration"}) {
    EXPECT_TRUE(says(problems, reason)) << reason << "\n" << problems;
  }
}

TEST(LhotseCuts, TimesOfWordsCountFromTheSourcesFirstSample) {
  MemoryEnv env;
  env.add_file("/data/cuts.jsonl",
               cut_line("c", 2, 4,
                        R"({"id": "s", "start": 0, "duration": 4, "text": "a b", )"
                        R"("alignment": {"word": [["a", 0.5, 0.25, null], ["b", 1, 1]]}})",
                        recording_json("a.wav")));
  add_audio(env, {"a.wav"});
  EXPECT_EQ(clip_of(discover_data(env), "c").extra_json,
            R"({"alignment":{"word":[["a",2.5,0.25,null],["b",3.0,1]]}})");
}

}  // namespace
}  // namespace xtts::corpus
