#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kAishell1Example(
    "aishell1", "x",
    {{"transcript/aishell_transcript_v0.8.txt", "BAC009S0002W0122 去\n"},
     {"wav/train/S0002/BAC009S0002W0122.wav", ""}},
    "AISHELL-1 transcripts (x/transcript/aishell_transcript_v0.8.txt) are in DATA");

void add_aishell(MemoryEnv& env) {
  env.add_file("/data/data_aishell/transcript/aishell_transcript_v0.8.txt",
               "BAC009S0002W0122 而 对 楼市 成交 抑制 作用 最 大 的 限 购\n"
               "BAC009S0724W0121 广州市 房地产 中介 AI  Lab 协会 分析\n"
               "BAC009S0764W0121 甚至 出现 交易 几乎 停滞 的 情况\n"
               "BAC009S0002W0999 没有 声音\n");
  add_audio(env, {"data_aishell/wav/train/S0002/BAC009S0002W0122.wav",
                  "data_aishell/wav/dev/S0724/BAC009S0724W0121.wav",
                  "data_aishell/wav/test/S0764/BAC009S0764W0121.wav"});
}

TEST(Aishell1, ReadsThePublishedTree) {
  MemoryEnv env;
  add_aishell(env);
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "aishell1");
  EXPECT_EQ(ids_of(corpus), (Ids{"BAC009S0002W0122", "BAC009S0724W0121", "BAC009S0764W0121"}));
  const Clip train = clip_of(corpus, "BAC009S0002W0122");
  EXPECT_EQ(train.text_raw, "而 对 楼市 成交 抑制 作用 最 大 的 限 购");
  EXPECT_EQ(train.text_normalized, "而对楼市成交抑制作用最大的限购");
  EXPECT_EQ(train.speaker, "S0002");
  EXPECT_EQ(train.language, "zh");
  EXPECT_EQ(train.split, Split::kTrain);
  const Clip dev = clip_of(corpus, "BAC009S0724W0121");
  EXPECT_EQ(dev.split, Split::kValidation);
  EXPECT_EQ(dev.text_normalized, "广州市房地产中介AI Lab协会分析");
  EXPECT_EQ(clip_of(corpus, "BAC009S0764W0121").split, Split::kTest);
  EXPECT_TRUE(says(problems_of(corpus), "aishell_transcript_v0.8.txt:4 BAC009S0002W0999: no audio"))
      << problems_of(corpus);
}

TEST(Aishell1, ArchivesThatAreStillPackedAreTold) {
  MemoryEnv env;
  add_aishell(env);
  env.add_file("/data/data_aishell/wav/S0003.tar.gz", "");
  EXPECT_TRUE(says(notes_of(discover_data(env)),
                   "1 archive of a speaker is packed in data_aishell/wav/: unpack them there"));
}

}  // namespace
}  // namespace xtts::corpus
