#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"
#include "tests/unit/corpus/tar_bytes.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kNemoTarExample(
    "nemo_tar", "",
    {{"manifest.json", R"({"audio_filepath": "a.wav", "shard_id": 0, "text": "go"})"},
     {"audio_0.tar", tar_member("a.wav", "RIFF") + tar_end()}},
    "manifest.json names members of tars beside");

std::string nemo_row(const std::string& name, int shard, const std::string& more = "") {
  return R"({"audio_filepath": ")" + name + R"(", "duration": 1.5, "text": "of )" + name +
         R"(", "shard_id": )" + std::to_string(shard) + more + "}\n";
}

void add_tars(MemoryEnv& env) {
  env.add_file("/data/audio_0.tar", tar_member("x_a.wav", "a") + tar_member("x_b.wav", "bb"));
  env.add_file("/data/audio_1.tar", tar_member("x_c.wav", "ccc") + tar_end());
}

TEST(NemoTar, ReadsMembersByTheManifest) {
  MemoryEnv env;
  add_tars(env);
  env.add_file("/data/tarred_audio_manifest.json",
               nemo_row("x_a.wav", 0) + nemo_row("x_c.wav", 1) + nemo_row("x_b.wav", 0));
  env.add_file("/data/sharded_manifests/manifest_0.json", nemo_row("x_a.wav", 0));
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "nemo_tar");
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_EQ(ids_of(corpus), (Ids{"x_a", "x_b", "x_c"}));
  const Clip b = clip_of(corpus, "x_b");
  EXPECT_EQ(b.text_raw, "of x_b.wav");
  EXPECT_EQ(b.source, "audio_0.tar/x_b.wav");
  EXPECT_EQ(b.source_bytes, 2U);
  EXPECT_EQ(b.extra_json, R"({"duration":1.5})");
  EXPECT_EQ(corpus.place_of(b), (SourcePlace{"/data/audio_0.tar", ByteRange{1536, 2}}));
}

TEST(NemoTar, ReadsManifestsOfShardsAndPartsOfOneMember) {
  MemoryEnv env;
  add_tars(env);
  env.add_file("/data/sharded_manifests/manifest_0.json",
               nemo_row("x_a.wav", 0, R"(, "offset": 0.5)") +
                   nemo_row("x_a-sub1.wav", 0, R"(, "offset": 2)"));
  env.add_file("/data/sharded_manifests/manifest_1.json", nemo_row("x_c.wav", 1));
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "nemo_tar");
  EXPECT_EQ(ids_of(corpus), (Ids{"x_a_00000500-00002000", "x_a_00002000-00003500", "x_c"}));
  EXPECT_EQ(clip_of(corpus, "x_a_00002000-00003500").segment, (Segment{2, 3.5}));
}

TEST(NemoTar, EachUnusableLineIsNamed) {
  MemoryEnv env;
  add_tars(env);
  env.add_file("/data/audio_2.tar", tar_member("d.wav", "d") + "cut");
  env.add_file("/data/m.json", nemo_row("x_a.wav", 0) + nemo_row("no.wav", 0) +
                                   nemo_row("x_a.wav", 7) + nemo_row("e.wav", 2) +
                                   R"({"audio_filepath": "x_b.wav"})"
                                   "\n");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"x_a"}));
  const std::string problems = problems_of(corpus);
  for (const std::string_view reason :
       {"m.json:2 no.wav: audio_0.tar has no member no.wav",
        "m.json:3 x_a.wav: there is no archive of shard 7 in the data folder",
        "m.json:4 e.wav: audio_2.tar has no member e.wav; it is cut short",
        "m.json:5 x_b.wav: the line has no shard_id"}) {
    EXPECT_TRUE(says(problems, reason)) << reason << "\n" << problems;
  }
}

TEST(NemoTar, MembersAreHeldToTheMemory) {
  MemoryEnv env;
  std::string tar;
  for (int i = 0; i < 4000; ++i) tar += tar_member("member" + std::to_string(i) + ".wav", "f");
  env.add_file("/data/audio_0.tar", tar + tar_end());
  env.add_file("/data/tarred_audio_manifest.json", nemo_row("member1.wav", 0));
  const auto needs = [&](std::uint64_t memory_bytes) {
    return discover({.env = env, .data = {"/data"}, .config = {}, .memory_bytes = memory_bytes})
        .status();
  };
  EXPECT_EQ(needs(std::uint64_t{1} << 20U).code(), StatusCode::kResource);
  EXPECT_TRUE(needs(std::uint64_t{4} << 20U).ok());
}

}  // namespace
}  // namespace xtts::corpus
