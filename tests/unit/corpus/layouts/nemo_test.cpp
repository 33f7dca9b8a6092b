#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kNemoExample("nemo", "",
                                 {{"manifest.json", R"({"audio_filepath": "a.wav", "text": "go"})"},
                                  {"a.wav", ""}},
                                 "manifest.json names audio_filepath in JSON lines");

TEST(Nemo, ReadsManifestsAsNemoWritesThem) {
  MemoryEnv env;
  env.add_file("/data/train_manifest.json",
               R"({"audio_filepath": "wavs/a.wav", "text": "Hello", "duration": 1.5})"
               "\n"
               R"({"audio_filepath": "/data/wavs/b.flac", "duration": 2, "text": "In 1492", )"
               R"("text_normalized": "in fourteen", "speaker": 78, "lang": "en", "pnc": "yes"})"
               "\n");
  add_audio(env, {"wavs/a.wav", "wavs/b.flac"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "nemo");
  EXPECT_EQ(ids_of(corpus), (Ids{"a", "b"}));
  EXPECT_FALSE(clip_of(corpus, "a").segment) << "a duration alone is no segment";
  EXPECT_EQ(clip_of(corpus, "a").extra_json, R"({"duration":1.5})");
  const Clip b = clip_of(corpus, "b");
  EXPECT_EQ(b.source, "wavs/b.flac");
  EXPECT_EQ(b.text_raw, "In 1492");
  EXPECT_EQ(b.text_normalized, "in fourteen");
  EXPECT_EQ(b.speaker, "78");
  EXPECT_EQ(b.language, "en");
  EXPECT_EQ(b.extra_json, R"({"duration":2,"pnc":"yes"})");
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_TRUE(says(notes_of(corpus),
                   "train_manifest.json names audio_filepath in JSON lines (layout nemo)"));
}

TEST(Nemo, AnOffsetMakesASegmentWithAnIdOfItsOwn) {
  MemoryEnv env;
  env.add_file("/data/m.jsonl",
               R"({"audio_filepath": "a.wav", "offset": 0, "duration": 1.5, "text": "x"})"
               "\n"
               R"({"audio_filepath": "a.wav", "offset": 1.5, "duration": 2.25, "text": "y"})"
               "\n"
               R"({"audio_filepath": "a.wav", "offset": 3600.0006, "text": "z"})"
               "\n");
  add_audio(env, {"a.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"a_00000000-00001500", "a_00001500-00003750", "a_03600001-end"}));
  EXPECT_EQ(clip_of(corpus, "a_00001500-00003750").segment, (Segment{1.5, 3.75}));
  EXPECT_EQ(clip_of(corpus, "a_00001500-00003750").extra_json, "");
  EXPECT_EQ(clip_of(corpus, "a_03600001-end").segment, (Segment{3600.0006, std::nullopt}));
}

TEST(Nemo, SeveralManifestsGiveTheSplits) {
  MemoryEnv env;
  for (const std::string name : {"train", "val", "test", "more"}) {
    env.add_file("/data/" + name + "_manifest.json",
                 "{\"audio_filepath\": \"" + name + ".wav\", \"text\": \"x\"}\n");
    add_audio(env, {name + ".wav"});
  }
  const Corpus corpus = discover_data(env, {.train_split = 1.0, .validation_split = 0.0});
  EXPECT_EQ(ids_of(corpus), (Ids{"more", "test", "train", "val"}));
  EXPECT_EQ(clip_of(corpus, "train").split, Split::kTrain);
  EXPECT_EQ(clip_of(corpus, "val").split, Split::kValidation);
  EXPECT_EQ(clip_of(corpus, "test").split, Split::kTest);
}

TEST(Nemo, OneManifestIsAllOfTheCorpus) {
  MemoryEnv env;
  env.add_file("/data/test.json", "{\"audio_filepath\": \"a.wav\"}\n");
  add_audio(env, {"a.wav"});
  EXPECT_EQ(clip_of(discover_data(env, {.train_split = 1.0, .validation_split = 0.0}), "a").split,
            Split::kTrain);
}

TEST(Nemo, EachUnusableLineIsNamedAndTheRestStays) {
  MemoryEnv env;
  const auto line = [](std::string_view fields) { return "{" + std::string(fields) + "}\n"; };
  std::string list = line(R"("audio_filepath":"a.wav","text":"good")");     // 1
  list += "not json\n";                                                     // 2
  list += "[1]\n";                                                          // 3
  list += line(R"("text":"no audio")");                                     // 4
  list += line(R"("audio_filepath":["a.wav"],"text":"x")");                 // 5
  list += line(R"("audio_filepath":"a.wav","text":{"a":1})");               // 6
  list += line(R"("audio_filepath":"a.wav","offset":"soon")");              // 7
  list += line(R"("audio_filepath":"a.wav","offset":-1,"duration":1)");     // 8
  list += line(R"("audio_filepath":"a.wav","offset":1e300,"duration":1)");  // 9
  list += line(R"("audio_filepath":"a.wav","offset":0,"duration":0)");      // 10
  list += line(R"("audio_filepath":"/etc/passwd","text":"x")");             // 11
  list += line(R"("audio_filepath":"../x.wav","text":"x")");                // 12
  list += line(R"("audio_filepath":"gone.wav","text":"x")");                // 13
  list += line("\"audio_filepath\":\"a.wav\",\"text\":\"caf\xE9\"");        // 14
  list += line(R"("audio_filepath":"a.wav","text":"nul \u0000")");          // 15
  list += line(R"("audio_filepath":"a.wav","text":"again")");               // 16
  list += line("\"text\":\"" + std::string(1U << 20U, 'x') + "\"");         // 17
  list += std::string(50'000, '[') + "\n";                                  // 18
  list += "{\"a\":" + std::string(60'000, '[') + "\n";                      // 19
  list += line(R"("audio_filepath":"a.wav","offset":NaN)");                 // 20
  env.add_file("/data/m.json", list);
  add_audio(env, {"a.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"a"});
  EXPECT_EQ(clip_of(corpus, "a").text_raw, "good");
  ASSERT_EQ(corpus.problems.size(), 19U) << problems_of(corpus);
  const std::vector<std::string> reasons = {
      "the line is not JSON",
      "the line is not a JSON object",
      "the line names no audio",
      "a field audio_filepath that is no text",
      "a field text that is no text",
      "a field offset that is no number",
      "is a segment that",
      "is a segment that",
      "is a segment that",
      "/etc/passwd leaves DATA",
      "../x.wav leaves DATA",
      "no audio named gone.wav",
      "the line is not UTF-8",
      "a field text that is a text with a NUL character",
      "the same id is in line 1",
      "bytes of text; at most 65,536",
      "deeper than 64 levels",
      "deeper than 64 levels",
      "the line is not JSON",
  };
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    EXPECT_EQ(corpus.problems[i].line, i + 2);
    EXPECT_TRUE(says(corpus.problems[i].reason.detail, reasons[i]))
        << corpus.problems[i].reason.detail;
  }
}

TEST(Nemo, TextMayHoldLineEndsAndTheNormalizedOneHasNone) {
  MemoryEnv env;
  env.add_file("/data/m.json",
               "\xEF\xBB\xBF{\"audio_filepath\": \"a.wav\", "
               "\"text\": \"one\\r\\ntwo\"}\r\n\r\n");
  add_audio(env, {"a.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(clip_of(corpus, "a").text_raw, "one\r\ntwo");
  EXPECT_EQ(clip_of(corpus, "a").text_normalized, "one two");
  EXPECT_EQ(problems_of(corpus), "");
}

TEST(Nemo, OtherJsonIsNoManifest) {
  MemoryEnv env;
  env.add_file("/data/config.json", "{\n  \"audio_filepath\": \"a.wav\"\n}\n");
  env.add_file("/data/notes.json", "{\"audio_filepath\": 3}\n");
  env.add_file("/data/big.json", "{\"audio_filepath\": \"" + std::string(100'000, 'a') + "\"}");
  add_audio(env, {"a.wav"});
  EXPECT_EQ(layout_of(env), "folder");
  EXPECT_TRUE(says(refusal_of(env, {.layout = "nemo"}), "no NeMo manifest in /data"));
}

TEST(Nemo, AFolderWithAFileForEachClipIsNoFolderOfManifests) {
  MemoryEnv env;
  for (int i = 0; i < 200; ++i) {
    add_audio(env, {std::to_string(i) + ".wav"});
    env.add_file("/data/" + std::to_string(i) + ".json", "{\"audio_filepath\": \"0.wav\"}\n");
  }
  int open_count = 0;
  env.set_hook([&](testing::EnvOperation& operation) {
    open_count += operation.call == testing::EnvCall::kOpenForRead ? 1 : 0;
    return Status();
  });
  EXPECT_EQ(layout_of(env), "folder");
  EXPECT_EQ(open_count, 1) << "one, to see whether it is a clip's file of emilia";
}

TEST(Nemo, WhereNothingIsFoundTheFirstLineIsNamedWithItsList) {
  MemoryEnv env;
  env.add_file("/data/dev.json", "\n{\"audio_filepath\": \"a.wav\"}\n");
  env.add_file("/data/train.json", "{\"audio_filepath\": \"b.wav\"}\n");
  add_audio(env, {"c.wav"});
  EXPECT_EQ(refusal_of(env),
            "none of the 2 clips named in dev.json and 1 more list has audio in the data folder "
            "(the first, line 2 of dev.json: no audio named a.wav in the data folder); 1 audio "
            "file is there, which layout folder would take without text");
}

}  // namespace
}  // namespace xtts::corpus
