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
  EXPECT_EQ(open_count, 5) << "nemo, emilia, table, table when it reads, all of it";
  EXPECT_LT(read_bytes, 4 * 65'536U + (1U << 20U) + 100);
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

struct ListCase {
  std::string list;
  std::string_view contents;
};

// The lists that make these layouts known, where a look inside a file does.
const std::vector<ListCase> kListCases = {
    {"metadata.csv", "a|text|text\n"},
    {"metadata.jsonl", "{\"file_name\": \"a.wav\"}\n"},
    {"manifest.json", "{\"audio_filepath\": \"a.wav\"}\n"},
    {"table.tsv", "path\ttext\na.wav\ttext\n"},
    {"filelists/train.txt", "a.wav|text\n"},
    {"en/train.tsv", "client_id\tpath\tsentence\nanna\ta.mp3\ttext\n"},
    {"train/transcripts.txt", "1_2_3\ttext\n"},
};

void add_list_case(MemoryEnv& env, const ListCase& list_case) {
  add_audio(env, {"a.wav", "en/clips/a.mp3", "train/audio/1/2/1_2_3.flac"});
  env.add_file("/data/" + list_case.list, list_case.contents);
}

// The disk fails at that call for that file.
void fail(MemoryEnv& env, const std::string& path, testing::EnvCall call) {
  env.set_hook([path, call](testing::EnvOperation& operation) {
    const bool is_it = operation.path == path && operation.call == call;
    return is_it ? Status(StatusCode::kResource, "read " + path + ": Input/output error")
                 : Status();
  });
}

TEST(Detection, AListThatCannotBeReadIsNoReasonToTakeTheSoundWithoutItsText) {
  for (const ListCase& list_case : kListCases) {
    MemoryEnv whole;
    add_list_case(whole, list_case);
    EXPECT_NE(layout_of(whole), "folder") << list_case.list;
    for (const auto call : {testing::EnvCall::kOpenForRead, testing::EnvCall::kRead}) {
      MemoryEnv env;
      add_list_case(env, list_case);
      fail(env, "/data/" + list_case.list, call);
      const Status status = discover(env, "/data", {}).status();
      EXPECT_EQ(status.code(), StatusCode::kResource) << list_case.list;
      EXPECT_TRUE(says(status.message(), "whether " + list_case.list + " is a list"))
          << status.message();
      EXPECT_TRUE(says(status.message(),
                       "Input/output error; mend it, take it out of DATA, or name"
                       " the layout (--layout-of-data)"));
      EXPECT_TRUE(discover(env, "/data", {.layout = "folder"}).ok()) << "which reads no lists";
    }
  }
}

TEST(Detection, AListThatWasRefusedIsNotPassedOver) {
  for (const ListCase& list_case : kListCases) {
    MemoryEnv env;
    add_list_case(env, {list_case.list + ".of", list_case.contents});
    env.add_file("/elsewhere", list_case.contents);
    env.add_link("/data/" + list_case.list, "/elsewhere");
    EXPECT_TRUE(says(refusal_of(env), list_case.list + " is a symbolic link that leaves DATA"))
        << list_case.list;
  }
}

TEST(Detection, AListInUtf16IsRead) {
  for (const bool has_mark : {true, false}) {
    MemoryEnv env;
    add_audio(env, {"a.wav"});
    std::string wide = has_mark ? "\xFF\xFE" : "";
    for (const char c : std::string_view("path,text\na.wav,what is said\n")) (wide += c) += '\0';
    env.add_file("/data/table.csv", wide);
    formats::CorpusConfig config;
    if (!has_mark) config.encoding = "UTF-16LE";
    const Corpus corpus = discover_data(env, config);
    EXPECT_EQ(corpus.layout, "table");
    EXPECT_EQ(clip_of(corpus, "a").text_raw, "what is said");
  }
}

TEST(Detection, ATranscriptThatCannotBeReadCostsItsClipAlone) {
  MemoryEnv env;
  add_audio(env, {"a.wav", "b.wav"});
  env.add_file("/data/a.txt", "text");
  env.add_file("/data/b.txt", "text");
  fail(env, "/data/a.txt", testing::EnvCall::kRead);
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"b"});
  ASSERT_EQ(corpus.problems.size(), 1U);
  EXPECT_EQ(corpus.problems[0].kind, RejectClass::kEnvironment);
}

}  // namespace
}  // namespace xtts::corpus
