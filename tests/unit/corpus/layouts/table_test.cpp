#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kTableExample("table", "",
                                  {{"clips.tsv", "path\ttext\na.wav\tgo\n"}, {"a.wav", ""}},
                                  "clips.tsv has a field that names audio");

TEST(Table, ReadsAHeaderAndItsRows) {
  MemoryEnv env;
  env.add_file("/data/clips.csv",
               "id,Audio_Path,text,normalized_text,speaker,lang,split,snr\n"
               "one,wavs/a.wav,\"Dr. Who, he said\",doctor who,anna,en,train,30\n"
               "two,b.wav,\"two\r\nlines\",,ben,,VALID,\n"
               ",wavs/c,three,,,,test,5\n");
  add_audio(env, {"wavs/a.wav", "wavs/b.wav", "wavs/c.flac"});
  const Corpus corpus = discover_data(env, {.train_split = 1.0, .validation_split = 0.0});
  EXPECT_EQ(corpus.layout, "table");
  EXPECT_EQ(ids_of(corpus), (Ids{"c", "one", "two"}));
  const Clip one = clip_of(corpus, "one");
  EXPECT_EQ(one.source, "wavs/a.wav");
  EXPECT_EQ(one.text_raw, "Dr. Who, he said");
  EXPECT_EQ(one.text_normalized, "doctor who");
  EXPECT_EQ(one.speaker, "anna");
  EXPECT_EQ(one.language, "en");
  EXPECT_EQ(one.split, Split::kTrain);
  EXPECT_EQ(one.extra_json, R"({"snr":"30"})");
  EXPECT_EQ(clip_of(corpus, "two").source, "wavs/b.wav");
  EXPECT_EQ(clip_of(corpus, "two").text_raw, "two\r\nlines");
  EXPECT_EQ(clip_of(corpus, "two").text_normalized, "two lines");
  EXPECT_EQ(clip_of(corpus, "two").split, Split::kValidation);
  EXPECT_EQ(clip_of(corpus, "c").source, "wavs/c.flac");
  EXPECT_EQ(clip_of(corpus, "c").split, Split::kTest);
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_TRUE(says(notes_of(corpus), "clips.csv has a field that names audio (layout table)"));
}

TEST(Table, ColumnsOfOtherNamesCanBeNamed) {
  for (const std::string separator : {",", "\t", "|"}) {
    MemoryEnv env;
    std::string list = "clip_name;utterance_ar;who;text;path;t0;t1\na;hello;ann;notes;x/y;1.5;2\n";
    for (char& c : list) c = c == ';' ? separator.front() : c;
    env.add_file("/data/metadata.csv", list);  // which else is an LJSpeech list
    add_audio(env, {"wavs/a.wav"});
    const Corpus corpus = discover_data(env, {.columns = {.audio = "clip_name",
                                                          .text = "utterance_ar",
                                                          .speaker = "who",
                                                          .start = "t0",
                                                          .end = "t1"}});
    EXPECT_EQ(corpus.layout, "table");
    EXPECT_EQ(problems_of(corpus), "") << separator;
    const Clip clip = clip_of(corpus, "a_00001500-00002000");
    EXPECT_EQ(clip.source, "wavs/a.wav");
    EXPECT_EQ(clip.text_raw, "hello");
    EXPECT_EQ(clip.speaker, "ann");
    EXPECT_EQ(clip.extra_json, R"({"path":"x/y","text":"notes"})") << "they mean nothing here";
  }
}

TEST(Table, ColumnsCanBeNamedInJsonLinesToo) {
  MemoryEnv env;
  env.add_file("/data/x.jsonl", R"({"mp3": "a.mp3", "gold": "hello"})"
                                "\n");
  add_audio(env, {"a.mp3"});
  EXPECT_EQ(discover_data(env, {.columns = {.audio = "mp3", .text = "gold"}}).clips.at(0).text_raw,
            "hello");
}

TEST(Table, AColumnThatNoListHasIsRefusedByName) {
  MemoryEnv env;
  env.add_file("/data/x.csv", "path,sentence,other\na.wav,hello,x\n");
  add_audio(env, {"a.wav"});
  EXPECT_TRUE(
      says(refusal_of(env, {.columns = {.text = "sentense"}}),
           "text_column: x.csv has no column sentense; it begins with path,sentence,other"));
  EXPECT_TRUE(says(refusal_of(env, {.columns = {.audio = "wav"}}), "has a column wav"));
  EXPECT_TRUE(says(refusal_of(env, {.layout = "folder", .columns = {.text = "sentence"}}),
                   "for layout table"));
}

TEST(Table, SeparatorsMayBeTabsOrSemicolons) {
  for (const std::string separator : {"\t", ";", ","}) {
    for (const std::string extension : {"csv", "tsv"}) {
      MemoryEnv env;
      env.add_file("/data/list." + extension, "\xEF\xBB\xBFpath" + separator + "sentence\r\na.wav" +
                                                  separator + "\"a" + separator + "b\"\r\n");
      add_audio(env, {"a.wav"});
      const Corpus corpus = discover_data(env);
      EXPECT_EQ(corpus.layout, "table");
      EXPECT_EQ(clip_of(corpus, "a").text_raw.size(), 3U);
      EXPECT_EQ(problems_of(corpus), "");
      EXPECT_TRUE(says(notes_of(corpus), "byte-order mark"));
    }
  }
}

TEST(Table, ReadsJsonLinesWithTheSameNames) {
  MemoryEnv env;
  env.add_file("/data/list.jsonl",
               R"({"audio": "a.wav", "transcript": "x", "client_id": "c1", "set": "dev", "v": 1.0})"
               "\n"
               R"({"audio": "b.wav", "transcript": null, "up": null})"
               "\n");
  add_audio(env, {"a.wav", "b.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "table");
  EXPECT_EQ(clip_of(corpus, "a").speaker, "c1");
  EXPECT_EQ(clip_of(corpus, "a").split, Split::kValidation);
  EXPECT_EQ(clip_of(corpus, "a").extra_json, R"({"v":1.0})");
  EXPECT_EQ(clip_of(corpus, "b").text_raw, "");
  EXPECT_EQ(clip_of(corpus, "b").extra_json, R"({"up":null})");
}

TEST(Table, StartAndEndOrDurationMakeSegments) {
  MemoryEnv env;
  env.add_file("/data/list.csv",
               "utt_id,file,start,end_s,duration\n"
               "a,x.wav,0.5,1.5,9\n"
               "b,x.wav,0.5,,2\n"
               "c,x.wav,0.5,,\n"
               "d,x.wav,,1,\n"
               "e,x.wav,,,2\n"
               ",x.wav,1,2,\n");
  add_audio(env, {"x.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"a", "b", "c", "d", "e", "x_00001000-00002000"}));
  EXPECT_EQ(clip_of(corpus, "a").segment, (Segment{0.5, 1.5}));
  EXPECT_EQ(clip_of(corpus, "a").extra_json, R"({"duration":"9"})") << "kept: the end is used";
  EXPECT_EQ(clip_of(corpus, "b").segment, (Segment{0.5, 2.5}));
  EXPECT_EQ(clip_of(corpus, "c").segment, (Segment{0.5, std::nullopt}));
  EXPECT_EQ(clip_of(corpus, "d").segment, (Segment{0.0, 1.0}));
  EXPECT_FALSE(clip_of(corpus, "e").segment);
}

TEST(Table, EachUnusableRowIsNamedAndTheRestStays) {
  MemoryEnv env;
  env.add_file("/data/list.csv",
               "path,text,split,start,end\n"
               "a.wav,good,,,\n"      // 2
               "a.wav,few\n"          // 3
               "a.wav,x,holdout,,\n"  // 4
               "a.wav,x,,one,\n"      // 5
               "a.wav,x,,nan,\n"      // 6
               "a.wav,x,,2,1\n"       // 7
               "a.wav,x,,-1,\n"       // 8
               ",x,,,\n"              // 9
               "a.wav,\"open,,,\n"    // 10
               "/etc/passwd,x,,,\n"   // 11
               "a.wav,caf\xE9,,,\n"   // 12
               "a.wav,again,,,\n");   // 13
  add_audio(env, {"a.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"a"});
  EXPECT_EQ(clip_of(corpus, "a").text_raw, "good");
  ASSERT_EQ(corpus.problems.size(), 11U) << problems_of(corpus);
  const std::vector<std::string> reasons = {"the line has 2 fields where the header line has 5",
                                            "the line has the split holdout; known are train",
                                            "a field start that is no number",
                                            "a field start that is no number",
                                            "is a segment that",
                                            "is a segment that",
                                            "the line names no audio",
                                            "a quote that is not closed",
                                            "/etc/passwd leaves DATA",
                                            "the line is not UTF-8",
                                            "the same id is in line 2 of list.csv"};
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    EXPECT_EQ(corpus.problems[i].line, i + 3);
    EXPECT_TRUE(says(corpus.problems[i].reason.detail, reasons[i]))
        << corpus.problems[i].reason.detail;
  }
}

TEST(Table, ListsThatAreNamedForSplitsAreAllRead) {
  MemoryEnv env;
  for (const std::string name : {"train", "valid", "test"}) {
    env.add_file("/data/" + name + ".csv", "path,text\n" + name + ".wav,x\n");
    add_audio(env, {name + ".wav"});
  }
  const Corpus corpus = discover_data(env, {.train_split = 1.0, .validation_split = 0.0});
  EXPECT_EQ(clip_of(corpus, "train").split, Split::kTrain);
  EXPECT_EQ(clip_of(corpus, "valid").split, Split::kValidation);
  EXPECT_EQ(clip_of(corpus, "test").split, Split::kTest);
}

TEST(Table, SeveralOtherListsMustBeNamed) {
  MemoryEnv env;
  for (const std::string name : {"new", "old"}) {
    env.add_file("/data/" + name + ".csv", "path,text\n" + name + ".wav,x\n");
    add_audio(env, {name + ".wav"});
  }
  EXPECT_TRUE(says(refusal_of(env),
                   "/data holds 2 lists (new.csv, old.csv), and the name of "
                   "new.csv is no split; say which with metadata_train_file"));
  const Corpus corpus = discover_data(env, {.layout = "table",
                                            .train_split = 1.0,
                                            .validation_split = 0.0,
                                            .metadata_train_file = "new.csv",
                                            .metadata_eval_file = "old.csv"});
  EXPECT_EQ(ids_of(corpus), (Ids{"new", "old"}));
  EXPECT_EQ(clip_of(corpus, "old").split, Split::kValidation);
}

TEST(Table, AMetadataCsvWithAHeaderOfCommasIsATable) {
  MemoryEnv env;
  env.add_file("/data/metadata.csv", "path,text\nwavs/a.wav,hello\n");
  add_audio(env, {"wavs/a.wav"});
  EXPECT_EQ(layout_of(env), "table");
  MemoryEnv bars;
  add_ljspeech(bars, "path|text\na|hello\n", {"a.wav"});
  EXPECT_EQ(layout_of(bars), "ljspeech");
}

TEST(Table, TablesWithoutAudioAreNone) {
  MemoryEnv env;
  env.add_file("/data/speakers.csv", "speaker,gender\nanna,f\n");
  env.add_file("/data/poem.csv", "path\nof thorns\n");
  env.add_file("/data/settings.json", "{\"path\": {\"audio\": 1}}\n");
  add_audio(env, {"a.wav"});
  EXPECT_EQ(layout_of(env), "folder");
  EXPECT_TRUE(says(refusal_of(env, {.layout = "table"}), "no table in /data"));
}

// metadata.csv is taken for a list of LJSpeech by its name.
TEST(Table, UnknownColumnsAreNamedWithTheOptionsForThem) {
  MemoryEnv env;
  env.add_file("/data/metadata.csv", "clip_location,words\na.wav,x\n");
  add_audio(env, {"a.wav"});
  const std::string text = refusal_of(env);
  EXPECT_TRUE(says(text, "metadata.csv has the columns clip_location, words, and none")) << text;
  EXPECT_TRUE(says(text, "--audio-column NAME, --text-column NAME")) << text;
  EXPECT_TRUE(says(text, "(audio: audio, audio_path,")) << text;
  EXPECT_EQ(refusal_of(env, {.layout = "table"}), "no table in /data: " + text);
  env.add_file("/data/metadata.csv", "b.wav,words\na.wav,x\n");
  EXPECT_TRUE(says(refusal_of(env), "expected lines id|text|normalized text"));
}

TEST(Table, AHeaderThatSaysTheSameTwiceIsRefused) {
  MemoryEnv env;
  env.add_file("/data/list.csv", "path,text,text\na.wav,x,y\n");
  add_audio(env, {"a.wav"});
  EXPECT_TRUE(says(refusal_of(env), "the header line of list.csv has the name text twice"));
}

}  // namespace
}  // namespace xtts::corpus
