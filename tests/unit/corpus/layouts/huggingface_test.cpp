#include <fstream>
#include <iterator>

#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

std::string file_of_this_folder(const std::string& name) {
  std::ifstream file(std::string(XTTS_SOURCE_DIR) + "/tests/unit/corpus/huggingface/" + name,
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const LayoutExample kHuggingFaceExample("huggingface", "x",
                                        {{"data.arrow", file_of_this_folder("stream.arrow")}},
                                        "Files with columns (x/data.arrow) are in DATA",
                                        "x/data.arrow:3 102: no audio named wavs/outside.wav in "
                                        "the data folder\n"
                                        "x/data.arrow/00000001 101: has no sound\n");

// Long enough to be told from other files; no more is read here.
const std::string kParquetBytes = "PAR1, and so on";

TEST(HuggingFace, IsNoLayoutOfLooseAudioOrOfFilesThatAreOnlyNamedSo) {
  MemoryEnv env;
  env.add_file("/data/statistics.parquet", kParquetBytes);
  add_audio(env, {"a.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "folder");
  EXPECT_EQ(corpus.unread_lists, (std::vector<std::string>{"statistics.parquet"}))
      << "it may hold the texts";

  MemoryEnv misnamed;
  misnamed.add_file("/data/notes.parquet", "no Parquet");
  misnamed.add_file("/data/flight.arrow", "ARROW");
  EXPECT_FALSE(says(refusal_of(misnamed), "pyarrow"));
}

TEST(HuggingFace, IsNamedAmongSeveralCorpora) {
  MemoryEnv env;
  env.add_file("/data/hub/data/train-00000-of-00001.parquet", kParquetBytes);
  env.add_file("/data/lj/metadata.csv", "a|text|text\n");
  env.add_file("/data/lj/wavs/a.wav", "RIFF");
  EXPECT_TRUE(says(refusal_of(env), "hub (huggingface), lj (ljspeech)")) << refusal_of(env);
}

TEST(HuggingFace, AFileThatIsNamedAndNotThereIsRefused) {
  MemoryEnv env;
  env.add_file("/data/a.parquet", kParquetBytes);
  EXPECT_TRUE(says(refusal_of(env, {.layout = "huggingface", .metadata_train_file = "mine.csv"}),
                   "there is no file mine.csv"));
  EXPECT_TRUE(says(refusal_of(env, {.layout = "huggingface", .metadata_eval_file = "a.parquet"}),
                   "layout huggingface finds its lists itself"));
}

}  // namespace
}  // namespace xtts::corpus
