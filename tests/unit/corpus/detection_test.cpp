// Which layout takes a folder that several would: all lists below name the same audio, and are put
// into DATA from the last in layouts.cpp to the first.
#include "corpus_checks.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

TEST(Detection, TheSurerLayoutWins) {
  MemoryEnv env;
  add_audio(env, {"a.wav"});
  EXPECT_EQ(layout_of(env), "folder");
  env.add_file("/data/list.txt", "a.wav|text\n");
  EXPECT_EQ(layout_of(env), "list");
  env.add_file("/data/table.csv", "path,text\na.wav,text\n");
  EXPECT_EQ(layout_of(env), "table");
  env.add_file("/data/metadata.csv", "a|text|text\n");
  EXPECT_EQ(layout_of(env), "ljspeech");
  env.add_file("/data/manifest.json", "{\"audio_filepath\": \"a.wav\"}\n");
  EXPECT_EQ(layout_of(env), "nemo");
  env.add_file("/data/metadata.jsonl", "{\"file_name\": \"a.wav\"}\n");
  EXPECT_EQ(layout_of(env), "audiofolder");
  env.add_file("/data/recordings.jsonl",
               R"({"id": "r", "sources": [{"type": "file", "source": "a.wav"}]})");
  env.add_file("/data/supervisions.jsonl",
               R"({"id": "s", "recording_id": "r", "start": 0, "duration": 1})");
  EXPECT_EQ(layout_of(env), "lhotse");
  env.add_file("/data/wav.scp", "a a.wav\n");
  EXPECT_EQ(layout_of(env), "kaldi");
}

TEST(Detection, AListNamedByTheRecipeIsAnLjspeechListUnlessToldOtherwise) {
  MemoryEnv env;
  add_audio(env, {"a.wav"});
  env.add_file("/data/wav.scp", "a a.wav\n");
  env.add_file("/data/manifest.json", "{\"audio_filepath\": \"a.wav\"}\n");
  env.add_file("/data/table.csv", "path,text\na.wav,of the table\n");
  env.add_file("/data/metadata.csv", "file_name,text\na.wav,text\n");
  env.add_file("/data/mine.csv", "a|mine\n");
  const Corpus mine = discover_data(env, {.metadata_train_file = "mine.csv"});
  EXPECT_EQ(mine.layout, "ljspeech");
  EXPECT_EQ(clip_of(mine, "a").text_raw, "mine");
  const Corpus table = discover_data(env, {.layout = "table", .metadata_train_file = "table.csv"});
  EXPECT_EQ(clip_of(table, "a").text_raw, "of the table");
  for (const std::string layout : {"kaldi", "nemo", "audiofolder"}) {
    EXPECT_TRUE(says(refusal_of(env, {.layout = layout, .metadata_train_file = "mine.csv"}),
                     "layout " + layout + " finds its lists itself"));
  }
}

TEST(Detection, LooksAtTheBeginningOfAListOnly) {
  MemoryEnv env;
  add_audio(env, {"a.wav"});
  env.add_file("/data/list.jsonl", "{\"audio\": \"a.wav\"}\n" + std::string(1U << 20U, '\n'));
  std::uint64_t read_bytes = 0;
  int open_count = 0;
  env.set_hook([&](testing::EnvOperation& operation) {
    const bool is_list = operation.path == "/data/list.jsonl";
    if (is_list && operation.call == testing::EnvCall::kRead) read_bytes += operation.size_bytes;
    open_count += is_list && operation.call == testing::EnvCall::kOpenForRead ? 1 : 0;
    return Status();
  });
  EXPECT_EQ(layout_of(env), "table");
  EXPECT_EQ(open_count, 4) << "nemo, table, table when it reads, all of it";
  EXPECT_LT(read_bytes, 3 * 65'536U + (1U << 20U) + 100);
}

TEST(Detection, SaysNoToWhatCannotBeTextAtAll) {
  for (const std::string_view bytes :
       {std::string_view("\xFF\xFEp\0a\0t\0h\0", 10), std::string_view("\0\0\0\0", 4),
        std::string_view("path,te\xFFxt\n"), std::string_view(""), std::string_view("\n\r\n")}) {
    MemoryEnv env;
    add_audio(env, {"a.wav"});
    for (const auto name : {"x.csv", "x.tsv", "x.json", "x.jsonl", "x.txt"}) {
      env.add_file("/data/" + std::string(name), bytes);
    }
    EXPECT_EQ(layout_of(env), "folder");
  }
}

}  // namespace
}  // namespace xtts::corpus
