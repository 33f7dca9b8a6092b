#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"
#include "tests/unit/corpus/tar_bytes.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kWebDatasetExample("webdataset", "x",
                                       {{"0.tar", tar_member("a.wav", "RIFF") +
                                                      tar_member("a.txt", "go") + tar_end()}},
                                       "Shards of samples (x/0.tar) are in DATA");

TEST(WebDataset, ReadsSamplesInPlace) {
  MemoryEnv env;
  env.add_file("/data/shard-000000.tar",
               tar_member("a/0001.flac", "fLaC") + tar_member("a/0001.txt", "Hello there\n") +
                   tar_member("a/0001.json", R"({"speaker": "ann", "language": "en", "mos": 4})") +
                   tar_member("a/0001.cls", "7") + tar_member("a/0002.mp3", "ID3") +
                   tar_member("a/0002.json", "{\n\"text\": \"Second\",\n\"id\": \"z\"}") +
                   tar_end());
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "webdataset");
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_EQ(corpus.ignored_file_count, 0U);
  EXPECT_EQ(ids_of(corpus), (Ids{"a/0001", "a/0002"}));
  const Clip first = clip_of(corpus, "a/0001");
  EXPECT_EQ(first.source, "shard-000000.tar/a/0001.flac");
  EXPECT_EQ(first.text_raw, "Hello there");
  EXPECT_EQ(first.speaker, "ann");
  EXPECT_EQ(first.language, "en");
  EXPECT_EQ(first.extra_json, R"({"cls":"7","mos":4})");
  EXPECT_EQ(first.source_bytes, 4U);
  EXPECT_EQ(corpus.place_of(first), (SourcePlace{"/data/shard-000000.tar", ByteRange{512, 4}}));
  EXPECT_EQ(clip_of(corpus, "a/0002").text_raw, "Second");
}

TEST(WebDataset, ShardsThatUseTheSameNamesAgainGiveTheirOwn) {
  MemoryEnv env;
  env.add_file("/data/train-0.tar", tar_member("000.wav", "x") + tar_end());
  env.add_file("/data/train-1.tar", tar_member("000.wav", "x") + tar_member("001.wav", "x"));
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"train-0/000", "train-1/000", "train-1/001"}));
  EXPECT_TRUE(says(notes_of(corpus), "train-1.tar has no end mark")) << notes_of(corpus);
}

TEST(WebDataset, NamesOfShardsOrFoldersAreSplits) {
  MemoryEnv env;
  env.add_file("/data/train-0.tar", tar_member("a.wav", "x") + tar_end());
  env.add_file("/data/dev/0.tar", tar_member("b.wav", "x") + tar_end());
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(clip_of(corpus, "a").split, Split::kTrain);
  EXPECT_EQ(clip_of(corpus, "b").split, Split::kValidation);
}

TEST(WebDataset, WhatIsHostileCostsItselfAlone) {
  MemoryEnv env;
  env.add_file("/data/a.tar",
               tar_member("good.wav", "x") + tar_member("good.txt", "text") +
                   tar_header({.name = "link.wav", .type = '2', .link = "/etc/passwd"}) +
                   tar_member("../../up.wav", "x") + tar_member("huge.wav", "x") +
                   tar_header({.name = "huge.txt", .size_bytes = 70000}) + std::string(70144, 'x') +
                   tar_member("bin.wav", "x") + tar_member("bin.txt", "\xFF\xFE") +
                   tar_member("json.wav", "x") + tar_member("json.json", "{") +
                   tar_member("alone.txt", "no audio") + tar_member("last.wav", "x") +
                   tar_header({.name = "last.txt", .size_bytes = 5000}) + "cut");
  env.add_file("/data/no.tar", "this is no tar at all, whatever it is called");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"good"}));
  const std::string problems = problems_of(corpus);
  for (const std::string_view reason :
       {"a.tar/link.wav link: is a link, which is not followed", "has a bad name: the id climbs",
        "a.tar/huge huge: huge.txt has 70,000 bytes", "a.tar/bin bin: bin.txt is not UTF-8",
        "a.tar/json json: json.json is not JSON", "a.tar/alone alone: has a text and no audio",
        "a.tar : is cut short: last.txt", "a.tar/last last: may be incomplete",
        "no.tar : is cut short within a header"}) {
    EXPECT_TRUE(says(problems, reason)) << reason << "\n" << problems;
  }
}

TEST(WebDataset, ASampleThatComesAgainNamesTheFirst) {
  MemoryEnv env;
  const std::string first = tar_member("sample-with-a-long-name.flac", "fLaC");
  env.add_file("/data/shard.tar", first + tar_member("other.flac", "fLaC") + first + tar_end());
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"other", "sample-with-a-long-name"}));
  EXPECT_EQ(problems_of(corpus),
            "shard.tar/sample-with-a-long-name.flac sample-with-a-long-name: the same id is in "
            "shard.tar/sample-with-a-long-name.flac, which is used\n");
}

// The names of all samples are looked through before the first clip is made.
TEST(WebDataset, NamesOfSamplesAreHeldToTheMemory) {
  MemoryEnv env;
  std::string shard;
  for (int i = 0; i < 4000; ++i) shard += tar_member("sample" + std::to_string(i) + ".flac", "f");
  env.add_file("/data/shard-0.tar", shard + tar_end());
  env.add_file("/data/shard-1.tar", tar_member("last.flac", "f") + tar_end());
  const auto needs = [&](std::uint64_t memory_bytes) {
    return discover({.env = env, .data = {"/data"}, .config = {}, .memory_bytes = memory_bytes})
        .status();
  };
  const Status refused = needs(std::uint64_t{200} << 10U);
  EXPECT_EQ(refused.code(), StatusCode::kResource);
  EXPECT_TRUE(says(refused.message(), "(0 lines so far, the last of shard-0.tar)"))
      << refused.message();
  EXPECT_EQ(needs(std::uint64_t{2} << 20U).code(), StatusCode::kResource);
  EXPECT_TRUE(needs(std::uint64_t{8} << 20U).ok());
}

TEST(WebDataset, ATarBesideLooseAudioIsNoCorpus) {
  MemoryEnv env;
  env.add_file("/data/a.tar", tar_member("a.wav", "x") + tar_end());
  add_audio(env, {"a.wav"});
  EXPECT_EQ(layout_of(env), "folder");
  EXPECT_EQ(discover_data(env, {.layout = "webdataset"}).clips.at(0).source, "a.tar/a.wav");
}

}  // namespace
}  // namespace xtts::corpus
