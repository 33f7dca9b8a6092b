// Which layout a folder is taken for: each corpus for its own and for no other, and what only looks
// like one for none.
#include <gtest/gtest.h>

#include "corpus_checks.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

void add_librispeech(MemoryEnv& env, const std::string& folder) {
  env.add_file(folder + "/dev-clean/84/121123/84-121123.trans.txt", "84-121123-0000 GO\n");
  env.add_file(folder + "/dev-clean/84/121123/84-121123-0000.flac", "");
}

void add_libritts(MemoryEnv& env, const std::string& folder) {
  const std::string stem = folder + "/dev-clean/84/121123/84_121123_000000_000000";
  env.add_file(stem + ".normalized.txt", "Go.");
  env.add_file(stem + ".wav", "");
}

void add_mls(MemoryEnv& env, const std::string& folder) {
  env.add_file(folder + "/dev/transcripts.txt", "1_2_000000\tgo\n");
  env.add_file(folder + "/dev/audio/1/2/1_2_000000.flac", "");
}

void add_commonvoice(MemoryEnv& env, const std::string& folder) {
  env.add_file(folder + "/en/train.tsv", "client_id\tpath\tsentence\na\tcv_1.mp3\tGo.\n");
  env.add_file(folder + "/en/clips/cv_1.mp3", "");
}

void add_vctk(MemoryEnv& env, const std::string& folder) {
  env.add_file(folder + "/wav48/p225/p225_001.wav", "");
  env.add_file(folder + "/txt/p225/p225_001.txt", "Go.");
}

void add_css10(MemoryEnv& env, const std::string& folder) {
  env.add_file(folder + "/transcript.txt", "b/b_0001.wav|Go.|go|1.5\n");
  env.add_file(folder + "/b/b_0001.wav", "");
}

void add_esd(MemoryEnv& env, const std::string& folder) {
  env.add_file(folder + "/0011/0011.txt", "0011_000001\tGo.\tSad\n");
  env.add_file(folder + "/0011/Sad/0011_000001.wav", "");
}

void add_aishell1(MemoryEnv& env, const std::string& folder) {
  env.add_file(folder + "/transcript/aishell_transcript_v0.8.txt", "BAC009S0002W0122 去\n");
  env.add_file(folder + "/wav/train/S0002/BAC009S0002W0122.wav", "");
}

void add_openslr(MemoryEnv& env, const std::string& folder) {
  env.add_file(folder + "/line_index.tsv", "afr_0184_2132417590\tGaan\n");
  env.add_file(folder + "/wavs/afr_0184_2132417590.wav", "");
}

void add_mailabs(MemoryEnv& env, const std::string& folder) {
  env.add_file(folder + "/by_book/male/k/b/metadata.csv", "b_1|Go.|go\n");
  env.add_file(folder + "/by_book/male/k/b/wavs/b_1.wav", "");
}

void add_emilia(MemoryEnv& env, const std::string& folder) {
  env.add_file(folder + "/DE.jsonl",
               R"({"id": "i", "wav": "a.mp3", "text": "x", "speaker": "s", "dnsmos": 3})");
  env.add_file(folder + "/a.mp3", "");
}

void add_deepspeech(MemoryEnv& env, const std::string& folder) {
  env.add_file(folder + "/train.csv", "wav_filename,wav_filesize,transcript\na.wav,1,go\n");
  env.add_file(folder + "/a.wav", "");
}

struct Row {
  const char* layout;
  void (*add)(MemoryEnv& env, const std::string& folder);
  const char* note;
};
constexpr Row kRows[] = {
    {"librispeech", add_librispeech,
     "LibriSpeech transcripts (x/dev-clean/84/121123/84-121123.trans.txt) are in DATA (layout "
     "librispeech)"},
    {"libritts", add_libritts,
     "LibriTTS transcripts (x/dev-clean/84/121123/84_121123_000000_000000.normalized.txt) are in "
     "DATA (layout libritts)"},
    {"mls", add_mls, "MLS transcripts (x/dev/transcripts.txt) are in DATA (layout mls)"},
    {"commonvoice", add_commonvoice,
     "Common Voice lists (x/en/train.tsv) are in DATA (layout commonvoice)"},
    {"css10", add_css10, "CSS10 transcripts (x/transcript.txt) are in DATA (layout css10)"},
    {"esd", add_esd, "ESD transcripts (x/0011/0011.txt) are in DATA (layout esd)"},
    {"aishell1", add_aishell1,
     "AISHELL-1 transcripts (x/transcript/aishell_transcript_v0.8.txt) are in DATA (layout "
     "aishell1)"},
    {"openslr", add_openslr, "OpenSLR lists (x/line_index.tsv) are in DATA (layout openslr)"},
    {"mailabs", add_mailabs,
     "M-AILABS lists (x/by_book/male/k/b/metadata.csv) are in DATA (layout mailabs)"},
    {"emilia", add_emilia, "Emilia transcripts (x/DE.jsonl) are in DATA (layout emilia)"},
    {"deepspeech", add_deepspeech, "x/train.csv has a field wav_filename (layout deepspeech)"},
    {"vctk", add_vctk, "VCTK recordings (x/wav48/p225/p225_001.wav) are in DATA (layout vctk)"},
};

TEST(Layouts, EachCorpusIsTakenForItself) {
  for (const Row& row : kRows) {
    MemoryEnv env;
    row.add(env, "/data/x");
    const Corpus corpus = discover_data(env);
    EXPECT_EQ(corpus.layout, row.layout);
    EXPECT_EQ(corpus.clips.size(), 1U) << row.layout;
    EXPECT_TRUE(corpus.has_text) << row.layout;
    EXPECT_TRUE(says(notes_of(corpus), row.note)) << notes_of(corpus);
    for (const Row& other : kRows) {
      if (&other == &row) continue;
      // The audio of MLS is named after its folders, as that of LibriTTS is; asked for, it is read.
      if (std::string_view(row.layout) == "mls" && std::string_view(other.layout) == "libritts")
        continue;
      const auto forced = discover(env, "/data", {.layout = other.layout});
      EXPECT_EQ(forced.status().code(), StatusCode::kInvalidArgument)
          << row.layout << " read as " << other.layout;
      EXPECT_TRUE(says(forced.status().message(), "there is no ")) << forced.status().message();
    }
  }
}

TEST(Layouts, AListOfTheUsersOwnGoesFirst) {
  for (const Row& row : kRows) {
    MemoryEnv env;
    row.add(env, "/data/x");
    add_ljspeech(env, "a|x|x\n", {"a.wav"});
    EXPECT_EQ(discover_data(env).layout, "ljspeech") << row.layout;
    MemoryEnv named;
    row.add(named, "/data/x");
    named.add_file("/data/mine.csv", "a|x|x\n");
    named.add_file("/data/a.wav", "");
    EXPECT_EQ(discover_data(named, {.metadata_train_file = "mine.csv"}).layout, "ljspeech");
  }
}

TEST(Layouts, WhatOnlyLooksLikeACorpusIsAFolder) {
  using Files = std::vector<std::pair<std::string, std::string>>;
  const Files cases[] = {
      {{"a/b/notes.trans.txt", "x y"}, {"a/b/c.wav", ""}},
      {{"a/b/c.normalized.txt", "x"}, {"a/b/c.wav", ""}},
      {{"a/b/a_b_c.wav", ""}},
      {{"train/transcripts.txt", "first.wav\thello\n"}, {"train/audio/first.wav", ""}},
      {{"train/transcripts.txt", "1_2_3\thello\n"}, {"train/wav/1_2_3.wav", ""}},
      {{"wav48/a.wav", ""}, {"wav48/p225/take1.wav", ""}},
      {{"wav22/p225/p225_001.wav", ""}},
  };
  for (const Files& files : cases) {
    MemoryEnv env;
    for (const auto& [path, contents] : files) env.add_file("/data/" + path, contents);
    EXPECT_EQ(discover_data(env).layout, "folder") << files.front().first;
  }
}

// A table is one whatever else is there: sound without its text would be half of the corpus.
TEST(Layouts, ATableWithoutItsAudioIsRefusedAndNoFolder) {
  MemoryEnv env;
  env.add_file("/data/train.tsv", "file\ttext\nb.wav\thello\n");
  env.add_file("/data/clips/a.wav", "");
  EXPECT_TRUE(says(refusal_of(env), "none of the 1 clip named in train.tsv has audio"));
}

TEST(Layouts, TheOrderOfTheFileSystemDoesNotMatter) {
  for (const Row& row : kRows) {
    std::string first;
    for (const std::uint64_t seed : {0, 1, 2, 3}) {
      MemoryEnv env;
      for (const auto folder : {"/data/a", "/data/b", "/data/c"}) row.add(env, folder);
      if (seed != 0) env.shuffle_listings(seed);
      const Corpus corpus = discover_data(env);
      const std::string all = problems_of(corpus) + notes_of(corpus) + corpus.clips.front().source;
      if (seed == 0) first = all;
      EXPECT_EQ(all, first) << row.layout << ", seed " << seed;
      const bool has_paths_as_ids = std::string_view(row.layout) == "css10";
      EXPECT_EQ(corpus.problems.size(), has_paths_as_ids ? 0U : 2U) << "two are copies\n"
                                                                    << problems_of(corpus);
    }
  }
}

}  // namespace
}  // namespace xtts::corpus
