#include <gtest/gtest.h>

#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kAishell3Example("aishell3", "x",
                                     {{"train/content.txt", "SSB00050001.wav\t去 qu4\n"},
                                      {"train/wav/SSB0005/SSB00050001.wav", ""}},
                                     "AISHELL-3 transcripts (x/train/content.txt) are in DATA");

void add_corpus(MemoryEnv& env, const std::string& root = "/data") {
  env.add_file(root + "/train/content.txt",
               "SSB00050001.wav\t广 guang3 州 zhou1 女 nv3\n"
               "SSB00050002.wav\tni2 yi3 wei2\n");
  env.add_file(root + "/train/wav/SSB0005/SSB00050001.wav", "RIFF");
  env.add_file(root + "/train/wav/SSB0005/SSB00050002.flac", "fLaC");
  env.add_file(root + "/test/content.txt", "SSB01220003.wav\t好 hao3\n");
  env.add_file(root + "/test/wav/SSB0122/SSB01220003.wav", "RIFF");
  env.add_file(root + "/spk-info.txt", "SSB0005\tB\tfemale\tnorth\n");
}

TEST(Aishell3, ReadsTextsSpeakersAndSplits) {
  MemoryEnv env;
  add_corpus(env);
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "aishell3");
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_EQ(ids_of(corpus), (Ids{"SSB00050001", "SSB00050002", "SSB01220003"}));
  const Clip clip = clip_of(corpus, "SSB00050001");
  EXPECT_EQ(clip.source, "train/wav/SSB0005/SSB00050001.wav");
  EXPECT_EQ(clip.text_raw, "广 guang3 州 zhou1 女 nv3");
  EXPECT_EQ(clip.text_normalized, "广州女");
  EXPECT_EQ(clip.extra_json, R"({"pinyin":"guang3 zhou1 nv3"})");
  EXPECT_EQ(clip.speaker, "SSB0005");
  EXPECT_EQ(clip.language, "zh");
  EXPECT_EQ(clip.split, Split::kTrain);
  EXPECT_EQ(clip_of(corpus, "SSB01220003").split, Split::kTest);
  const Clip pinyin = clip_of(corpus, "SSB00050002");
  EXPECT_EQ(pinyin.source, "train/wav/SSB0005/SSB00050002.flac");
  EXPECT_EQ(pinyin.text_raw, "ni2 yi3 wei2");
  EXPECT_EQ(pinyin.extra_json, "");
  EXPECT_EQ(pinyin.language, "zh");
}

TEST(Aishell3, MayLieBelowOtherFolders) {
  for (const std::string root : {"/data/data_aishell3", "/data/zh/AISHELL-3"}) {
    MemoryEnv env;
    add_corpus(env, root);
    EXPECT_EQ(discover_data(env).layout, "aishell3") << root;
  }
}

TEST(Aishell3, NamesTheLinesThatAreNone) {
  MemoryEnv env;
  add_corpus(env);
  env.add_file("/data/train/content.txt",
               "SSB00050001.wav\t广 guang3\nSSB00050002.wav\nx.wav\ty\n../SSB00050003.wav\tz\n"
               "SSB00059999.wav\t无 wu2\n");
  const std::string problems = problems_of(discover_data(env));
  for (const char* words : {"one field", "a speaker and four digits", "no audio named"})
    EXPECT_TRUE(says(problems, words)) << problems;
}

TEST(Aishell3, AContentFileOfAnotherKindIsNone) {
  MemoryEnv env;
  env.add_file("/data/content.txt", "What is in this folder\n");
  env.add_file("/data/wav/a.wav", "RIFF");
  EXPECT_EQ(discover_data(env).layout, "folder");
  env.add_file("/data/content.txt", "clip0001.wav\tHello\n");
  env.add_file("/data/wav/clip0001.wav", "RIFF");
  EXPECT_EQ(discover_data(env).layout, "folder") << "no speaker's folder";
}

TEST(Aishell3, ReadsNoOtherContentFiles) {
  MemoryEnv env;
  add_corpus(env);
  env.add_file("/data/docs/content.txt", "What is in this folder\n");
  EXPECT_EQ(problems_of(discover_data(env)), "");
}

}  // namespace
}  // namespace xtts::corpus
