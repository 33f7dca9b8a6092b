#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kAudiofolderExample("audiofolder", "",
                                        {{"metadata.csv", "file_name,text\na.wav,go\n"},
                                         {"a.wav", ""}},
                                        "metadata.csv has a field file_name");

TEST(Audiofolder, ReadsMetadataCsv) {
  MemoryEnv env;
  env.add_file("/data/metadata.csv",
               "file_name,transcription,speaker_id,lang,duration\n"
               "a.wav,\"Hello, \"\"you\"\"\",7,en,1.50\n"
               "sub/b.flac,\"two\nlines\",anna,,2\n");
  add_audio(env, {"a.wav", "sub/b.flac"});
  const Corpus corpus = discover_data(env, {.language = "fa"});
  EXPECT_EQ(corpus.layout, "audiofolder");
  EXPECT_EQ(ids_of(corpus), (Ids{"a", "sub/b"}));
  EXPECT_EQ(clip_of(corpus, "a").text_raw, "Hello, \"you\"");
  EXPECT_EQ(clip_of(corpus, "a").speaker, "7");
  EXPECT_EQ(clip_of(corpus, "a").language, "en");
  EXPECT_EQ(clip_of(corpus, "a").extra_json, R"({"duration":"1.50"})");
  EXPECT_EQ(clip_of(corpus, "sub/b").language, "fa");
  EXPECT_EQ(clip_of(corpus, "sub/b").text_raw, "two\nlines");
  EXPECT_EQ(clip_of(corpus, "sub/b").text_normalized, "two lines");
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_TRUE(says(notes_of(corpus), "metadata.csv has a field file_name (layout audiofolder)"));
}

TEST(Audiofolder, ReadsMetadataJsonLines) {
  MemoryEnv env;
  env.add_file("/data/metadata.jsonl",
               R"({"file_name": "a.mp3", "text": "Dr.", "normalized_text": "doctor", "n": [1]})"
               "\n"
               R"({"file_name": "b.mp3", "normalized_text": "only"})"
               "\n");
  add_audio(env, {"a.mp3", "b.mp3"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "audiofolder");
  EXPECT_EQ(clip_of(corpus, "a").text_raw, "Dr.");
  EXPECT_EQ(clip_of(corpus, "a").text_normalized, "doctor");
  EXPECT_EQ(clip_of(corpus, "a").extra_json, R"({"n":[1]})");
  EXPECT_EQ(clip_of(corpus, "b").text_raw, "only");
}

TEST(Audiofolder, FoldersOfSplitsKeepEqualNamesApart) {
  for (const std::string base : {"", "data/"}) {
    MemoryEnv env;
    for (const std::string split : {"train", "validation", "test"}) {
      const std::string folder = base + split;
      env.add_file("/data/" + folder + "/metadata.csv", "file_name,text\n./0.wav,x\n");
      add_audio(env, {folder + "/0.wav"});
    }
    const Corpus corpus = discover_data(env, {.train_split = 1.0, .validation_split = 0.0});
    EXPECT_EQ(ids_of(corpus), (Ids{base + "test/0", base + "train/0", base + "validation/0"}));
    EXPECT_EQ(clip_of(corpus, base + "test/0").source, base + "test/0.wav");
    EXPECT_EQ(clip_of(corpus, base + "test/0").split, Split::kTest);
    EXPECT_EQ(clip_of(corpus, base + "train/0").split, Split::kTrain);
    EXPECT_EQ(clip_of(corpus, base + "validation/0").split, Split::kValidation);
    EXPECT_EQ(problems_of(corpus), "");
  }
}

TEST(Audiofolder, OneFolderIsAllOfTheCorpus) {
  MemoryEnv env;
  env.add_file("/data/test/metadata.csv", "file_name,text\na.wav,x\n");
  add_audio(env, {"test/a.wav"});
  const Corpus corpus = discover_data(env, {.train_split = 1.0, .validation_split = 0.0});
  EXPECT_EQ(clip_of(corpus, "test/a").split, Split::kTrain);
}

TEST(Audiofolder, LeavesAnLjspeechListAlone) {
  MemoryEnv env;
  add_ljspeech(env, "file_name|text\na|He said file_name, text\n", {"a.wav"});
  EXPECT_EQ(layout_of(env), "ljspeech");
  MemoryEnv commas;
  add_ljspeech(commas, "a|one, two, file_name, text|x\n", {"a.wav"});
  EXPECT_EQ(layout_of(commas), "ljspeech");
}

TEST(Audiofolder, NamesOutsideTheListsFolderAreRefused) {
  MemoryEnv env;
  env.add_file("/data/metadata.csv",
               "file_name,text\na.wav,x\n/data/a.wav,x\n../a.wav,x\n,x\ngone.wav,x\n");
  add_audio(env, {"a.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"a"});
  EXPECT_EQ(problems_of(corpus),
            "metadata.csv:3 /data/a.wav: the id is an absolute path; name audio relative to the "
            "audio folder\n"
            "metadata.csv:4 ../a.wav: the id climbs out of its folder with '..'\n"
            "metadata.csv:5 : the line names no audio\n"
            "metadata.csv:6 gone: no audio named gone.wav in the data folder\n");
}

TEST(Audiofolder, OfTwoListsInOneFolderTheTableIsRead) {
  MemoryEnv env;
  env.add_file("/data/metadata.csv", "file_name,text\na.wav,table\n");
  env.add_file("/data/metadata.jsonl", R"({"file_name": "a.wav", "text": "json"})");
  add_audio(env, {"a.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(clip_of(corpus, "a").text_raw, "table");
  EXPECT_TRUE(says(notes_of(corpus), "metadata.jsonl is not read: metadata.csv is beside it"));
}

TEST(Audiofolder, KeysThatItWouldIgnoreAreRefused) {
  MemoryEnv env;
  env.add_file("/data/metadata.csv", "file_name,text\na.wav,x\n");
  add_audio(env, {"a.wav"});
  EXPECT_TRUE(says(refusal_of(env, {.layout = "audiofolder", .wavs_train_folder = "wavs"}),
                   "layout audiofolder finds its lists itself"));
}

}  // namespace
}  // namespace xtts::corpus
