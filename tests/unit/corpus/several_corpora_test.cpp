#include "corpus/several_corpora.hpp"

#include "corpus_checks.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

void add_two_corpora(MemoryEnv& env) {
  env.add_file("/data/LJSpeech-1.1/metadata.csv", "LJ001-0001|Printing|Printing\n");
  env.add_file("/data/LJSpeech-1.1/wavs/LJ001-0001.wav", "RIFF");
  env.add_file("/data/My \"corpus\"/list.tsv", "path\tsentence\na.wav\tx\n");
  env.add_file("/data/My \"corpus\"/a.wav", "RIFF");
  env.add_file("/data/music/song.mp3", "ID3");
}

TEST(SeveralCorpora, AreAllNamedWithTheFileToBuildFrom) {
  MemoryEnv env;
  add_two_corpora(env);
  const std::string text = refusal_of(env);
  EXPECT_TRUE(says(text, "/data holds 2 corpora: LJSpeech-1.1 (ljspeech), My \"corpus\" (table)"))
      << text;
  EXPECT_TRUE(says(text,
                   "- name: \"LJSpeech-1.1\"\n  path: \"/data/LJSpeech-1.1\"\n"
                   "  layout: ljspeech\n"
                   "- name: \"My \\\"corpus\\\"\"\n"))
      << text;
  EXPECT_EQ(discover_data(env, {.layout = "folder"}).clips.size(), 3U);
}

TEST(SeveralCorpora, TheOnlyOneIsNamed) {
  MemoryEnv env;
  env.add_file("/data/LJSpeech-1.1/metadata.csv", "LJ001-0001|Printing|Printing\n");
  env.add_file("/data/LJSpeech-1.1/wavs/LJ001-0001.wav", "RIFF");
  const Corpus corpus = discover_data(env);
  ASSERT_TRUE(corpus.corpus_below);
  EXPECT_EQ(corpus.corpus_below->folder, "/data/LJSpeech-1.1");
  EXPECT_EQ(corpus.corpus_below->layout, "ljspeech");
  env.add_file("/data/other/metadata.csv", "x|y\n");
  EXPECT_FALSE(discover_data(env, {.layout = "folder"}).corpus_below);
}

TEST(SeveralCorpora, AListBesideTheOnlyOneIsNamed) {
  MemoryEnv env;
  env.add_file("/data/LJSpeech-1.1/metadata.csv", "LJ001-0001|Printing|Printing\n");
  env.add_file("/data/LJSpeech-1.1/wavs/LJ001-0001.wav", "RIFF");
  EXPECT_EQ(discover_data(env).unread_beside_it, "");
  env.add_file("/data/mine/of_mine.csv", "place,words\na.wav,x\n");
  env.add_file("/data/mine/a.wav", "RIFF");
  const Corpus corpus = discover_data(env);
  ASSERT_TRUE(corpus.corpus_below);
  EXPECT_EQ(corpus.unread_beside_it, "mine/of_mine.csv begins with 'place,words'");
}

// ljspeech looks for its list in DATA itself, so it cannot read corpora below.
TEST(SeveralCorpora, OnlyALayoutThatReadsThemIsOffered) {
  MemoryEnv env;
  for (const std::string folder : {"a", "b"}) {
    env.add_file("/data/" + folder + "/metadata.csv", "x|Printing|Printing\n");
    env.add_file("/data/" + folder + "/wavs/x.wav", "RIFF");
  }
  EXPECT_TRUE(says(refusal_of(env), "Or name a layout: --layout-of-data folder reads all"));
  env.add_file("/data/german/transcript.txt", "b/a.wav|x|x|1.0\n");
  env.add_file("/data/german/b/a.wav", "RIFF");
  EXPECT_TRUE(says(refusal_of(env), "--layout-of-data css10 reads those of that kind"));
  EXPECT_EQ(discover_data(env, {.layout = "css10"}).clips.size(), 1U);
}

TEST(SeveralCorpora, OfDifferentKindsNoneIsLeftOut) {
  MemoryEnv env;
  env.add_file("/data/libri/train-clean-100/84/121123/84-121123.trans.txt", "84-121123-0000 GO\n");
  env.add_file("/data/libri/train-clean-100/84/121123/84-121123-0000.flac", "fLaC");
  env.add_file("/data/german/transcript.txt", "b/a.wav|x|x|1.0\n");
  env.add_file("/data/german/b/a.wav", "RIFF");
  EXPECT_TRUE(says(refusal_of(env), "german (css10), libri (librispeech)"));
}

TEST(SeveralCorpora, FoldersOfOneKindAreOneCorpus) {
  MemoryEnv env;
  for (const std::string folder : {"train-clean-100", "dev-clean"}) {
    const std::string chapter = "/data/" + folder + "/84/121123/84-121123";
    env.add_file(chapter + ".trans.txt", "84-121123-" + folder + " GO\n");
    env.add_file(chapter + "-" + folder + ".flac", "fLaC");
  }
  EXPECT_EQ(layout_of(env), "librispeech");
}

TEST(SeveralCorpora, AListInDataSaysWhatAllOfItIs) {
  MemoryEnv env;
  add_two_corpora(env);
  env.add_file("/data/metadata.csv", "LJSpeech-1.1/wavs/LJ001-0001|x\nmusic/song|y\n");
  EXPECT_EQ(layout_of(env), "ljspeech");
}

TEST(SeveralCorpora, FoldersOfSplitsWithAListEachSayTheirSplit) {
  MemoryEnv env;
  for (const std::string name : {"train", "dev"}) {
    env.add_file("/data/" + name + "/list.csv", "path,text\na.wav,x\n");
    env.add_file("/data/" + name + "/a.wav", "RIFF");
  }
  const auto entries = find_corpora(env, {"/data"}, {});
  ASSERT_TRUE(entries.ok());
  ASSERT_EQ(entries->size(), 2U);
  EXPECT_EQ((*entries)[0].split, "validation");
  EXPECT_EQ((*entries)[1].split, "train");
  EXPECT_TRUE(says(corpora_yaml(*entries), "  layout: table\n  split: validation\n"));
}

}  // namespace
}  // namespace xtts::corpus
