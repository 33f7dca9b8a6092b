#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kOpenslrExample("openslr", "x",
                                    {{"line_index.tsv", "afr_0184_2132417590\tGaan\n"},
                                     {"wavs/afr_0184_2132417590.wav", ""}},
                                    "OpenSLR lists (x/line_index.tsv) are in DATA");

TEST(Openslr, ReadsTheListBesideItsWavs) {  // SLR32
  MemoryEnv env;
  env.add_file("/data/af_za/za/afr/line_index.tsv",
               "afr_0184_2132417590\tOp baie oulike manier\nafr_1919_0000000001\tHallo daar\n");
  add_audio(env, {"af_za/za/afr/wavs/afr_0184_2132417590.wav",
                  "af_za/za/afr/wavs/afr_1919_0000000001.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "openslr");
  EXPECT_EQ(ids_of(corpus), (Ids{"afr_0184_2132417590", "afr_1919_0000000001"}));
  const Clip clip = clip_of(corpus, "afr_0184_2132417590");
  EXPECT_EQ(clip.text_raw, "Op baie oulike manier");
  EXPECT_EQ(clip.speaker, "afr_0184");
  EXPECT_EQ(clip.language, "af");
  EXPECT_EQ(clip.source, "af_za/za/afr/wavs/afr_0184_2132417590.wav");
  EXPECT_EQ(problems_of(corpus), "");
}

TEST(Openslr, ReadsTwoListsOverTheFoldersOfTheirArchives) {  // SLR63
  MemoryEnv env;
  env.add_file("/data/line_index_female.tsv", "mlf_00081_00000000001\tപല\n");
  env.add_file("/data/line_index_male.tsv", "mlm_00081_00000000001\tഒരു\n");
  add_audio(env,
            {"ml_in_female/mlf_00081_00000000001.wav", "ml_in_male/mlm_00081_00000000001.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"mlf_00081_00000000001", "mlm_00081_00000000001"}));
  EXPECT_EQ(clip_of(corpus, "mlm_00081_00000000001").speaker, "mlm_00081");
  EXPECT_EQ(clip_of(corpus, "mlm_00081_00000000001").language, "ml");
}

TEST(Openslr, FieldsBetweenNameAndTextAreKept) {
  MemoryEnv env;
  env.add_file("/data/line_index.tsv", "a1\tjoe\t17\tgóðan daginn\nonly\n");
  add_audio(env, {"wavs/a1.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(clip_of(corpus, "a1").text_raw, "góðan daginn");
  EXPECT_EQ(clip_of(corpus, "a1").extra_json, R"({"column_2":"joe","column_3":"17"})");
  EXPECT_EQ(clip_of(corpus, "a1").speaker, "");
  EXPECT_TRUE(says(problems_of(corpus), "line_index.tsv:2 : the line has one field"));
}

}  // namespace
}  // namespace xtts::corpus
