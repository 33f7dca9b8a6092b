#include <gtest/gtest.h>

#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kMlsExample("mls", "x",
                                {{"dev/transcripts.txt", "1_2_000000\tgo\n"},
                                 {"dev/audio/1/2/1_2_000000.flac", ""}},
                                "MLS transcripts (x/dev/transcripts.txt) are in DATA");

TEST(Mls, ReadsTheSplitsOfOneLanguage) {
  MemoryEnv env;
  env.add_file("/mls_german_opus/train/transcripts.txt", "1_20_000001\tguten tag\n");
  env.add_file("/mls_german_opus/train/audio/1/20/1_20_000001.opus", "");
  env.add_file("/mls_german_opus/train/limited_supervision/9hr/handles.txt", "1_20_000001\n");
  env.add_file("/mls_german_opus/dev/transcripts.txt", "2_30_000001\thallo\n");
  env.add_file("/mls_german_opus/dev/audio/2/30/2_30_000001.opus", "");
  env.add_file("/mls_german_opus/test/transcripts.txt", "3_40_000001\tmoin\n");
  env.add_file("/mls_german_opus/test/audio/3/40/3_40_000001.opus", "");
  const auto corpus = discover(env, "/mls_german_opus/", {.language = "xx"});
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  EXPECT_EQ(corpus->layout, "mls");
  EXPECT_EQ(ids_of(*corpus), (Ids{"1_20_000001", "2_30_000001", "3_40_000001"}));
  const Clip clip = clip_of(*corpus, "1_20_000001");
  EXPECT_EQ(clip.source, "train/audio/1/20/1_20_000001.opus");
  EXPECT_EQ(clip.text_raw, "guten tag");
  EXPECT_EQ(clip.text_normalized, "guten tag");
  EXPECT_EQ(clip.speaker, "1");
  EXPECT_EQ(clip.language, "de");
  EXPECT_EQ(clip.split, Split::kTrain);
  EXPECT_EQ(clip_of(*corpus, "2_30_000001").split, Split::kValidation);
  EXPECT_EQ(clip_of(*corpus, "3_40_000001").split, Split::kTest);
  EXPECT_EQ(problems_of(*corpus), "");
  EXPECT_EQ(corpus->ignored_file_count, 1U) << "handles.txt";
}

TEST(Mls, EveryLanguageIsKnownByTheNameOfAFolder) {
  const std::pair<std::string, std::string> languages[] = {
      {"mls_dutch", "nl"},   {"mls_english", "en"}, {"mls_french_opus", "fr"},
      {"mls_german", "de"},  {"mls_italian", "it"}, {"mls_polish", "pl"},
      {"mls_spanish", "es"}, {"mls_klingon", ""},   {"mls_portuguese_opus", "pt"}};
  MemoryEnv env;
  int number = 0;
  for (const auto& [folder, language] : languages) {
    const std::string id = "1_2_" + std::to_string(number++);
    env.add_file("/data/" + folder + "/train/transcripts.txt", id + "\ttext\n");
    env.add_file("/data/" + folder + "/train/audio/1/2/" + id + ".flac", "");
  }
  const Corpus corpus = discover_data(env);
  ASSERT_EQ(corpus.clips.size(), std::size(languages));
  for (const Clip& clip : corpus.clips) {
    const std::string folder =
        std::string(clip.source.view().substr(0, clip.source.view().find('/')));
    const auto place = std::find_if(std::begin(languages), std::end(languages),
                                    [&](const auto& row) { return row.first == folder; });
    EXPECT_EQ(clip.language, place->second) << folder;
  }
}

TEST(Mls, EachUnusableLineIsNamedAndTheRestStays) {
  MemoryEnv env;
  std::string list = "\xEF\xBB\xBF";
  list += "1_2_1\tgood  \r\n";     // 1
  list += "\r\n";                  // 2
  list += "1_2_2\tno audio\r\n";   // 3
  list += "1_2_3 a space\r\n";     // 4
  list += "a_b_c\tno number\r\n";  // 5
  list += "1_2_1\tagain\r\n";      // 6
  list += "1_2_4\tcaf\xE9\r\n";    // 7
  list += "1_2_5\t\r\n";           // 8
  env.add_file("/data/dev/transcripts.txt", list);
  for (const auto name : {"1", "4", "5"})
    env.add_file("/data/dev/audio/1/2/1_2_" + std::string(name) + ".flac", "");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"1_2_1", "1_2_5"}));
  EXPECT_EQ(clip_of(corpus, "1_2_1").text_raw, "good");
  EXPECT_EQ(problems_of(corpus),
            "dev/transcripts.txt:3 1_2_2: no audio named 1/2/1_2_2 in dev/audio/\n"
            "dev/transcripts.txt:4 : the line has one field; expected ID<TAB>TEXT\n"
            "dev/transcripts.txt:5 a_b_c: the id is not SPEAKER_BOOK_NUMBER\n"
            "dev/transcripts.txt:6 1_2_1: the same id is in line 1 of dev/transcripts.txt, which "
            "is used\n"
            "dev/transcripts.txt:7 1_2_4: the line is not UTF-8 (byte 10); save it as UTF-8, or "
            "name its encoding, as in --encoding cp1256\n");
  EXPECT_TRUE(says(notes_of(corpus), "1 clip has no text"));
  EXPECT_TRUE(says(notes_of(corpus), "1 audio file is not used by the list"));
}

TEST(Mls, ASplitWhoseListCannotBeReadStopsDiscovery) {
  const auto failure = [](const auto& spoil) {
    MemoryEnv env;
    env.add_file("/data/dev/transcripts.txt", "1_2_1\ta\n");
    env.add_file("/data/dev/audio/1/2/1_2_1.flac", "");
    env.add_file("/data/train/audio/1/2/1_2_2.flac", "");
    env.add_file("/data/train/transcripts.txt", "1_2_2\ta\n");
    spoil(env);
    return discover(env, "/data", {}).status();
  };
  EXPECT_TRUE(failure([](MemoryEnv&) {}).ok());
  const Status denied = failure([](MemoryEnv& env) {
    env.set_hook([](testing::EnvOperation& operation) {
      const bool fails = operation.call == testing::EnvCall::kOpenForRead &&
                         operation.path == "/data/train/transcripts.txt";
      return fails ? Status(StatusCode::kResource, "Permission denied") : Status();
    });
  });
  EXPECT_EQ(denied.code(), StatusCode::kResource);
  const Status linked = failure([](MemoryEnv& env) {
    env.add_file("/etc/transcripts.txt", "1_2_2\tsecret\n");
    env.add_link("/data/train/transcripts.txt", "/etc/transcripts.txt");
  });
  EXPECT_EQ(linked.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(says(linked.message(), "train/transcripts.txt is a symbolic link that leaves DATA"));
}

TEST(Mls, AnAudioFolderThatLeavesDataIsTheReasonGiven) {
  MemoryEnv env;
  env.add_file("/data/dev/transcripts.txt", "1_2_1\ta\n");
  env.add_file("/disk/1/2/1_2_1.flac", "");
  env.add_link("/data/dev/audio", "/disk");
  EXPECT_TRUE(says(refusal_of(env), "dev/audio is a symbolic link that leaves DATA (to /disk)"));
}

}  // namespace
}  // namespace xtts::corpus
