#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kEmiliaExample(
    "emilia", "x",
    {{"DE.jsonl", R"({"id": "i", "wav": "a.mp3", "text": "x", "speaker": "s", "dnsmos": 3})"},
     {"a.mp3", ""}},
    "Emilia transcripts (x/DE.jsonl) are in DATA");

std::string emilia_row(const std::string& name) {
  return R"({"id": ")" + name + R"(", "wav": "DE_B00000/DE_B00000_S00000/mp3/)" + name +
         R"(.mp3", "text": " Und es gibt auch", "duration": 3.228, "speaker": "DE_B00000_S00000", )"
         R"("language": "de", "dnsmos": 3.3697})";
}

TEST(Emilia, ReadsListsBesideTheFoldersTheyName) {
  MemoryEnv env;
  env.add_file("/data/DE/DE_B00000.jsonl", emilia_row("DE_B00000_S00000_W000000") + "\nbroken\n" +
                                               emilia_row("DE_B00000_S00000_W000029"));
  add_audio(env, {"DE/DE_B00000/DE_B00000_S00000/mp3/DE_B00000_S00000_W000000.mp3"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "emilia");
  EXPECT_EQ(ids_of(corpus), (Ids{"DE_B00000_S00000_W000000"}));
  const Clip clip = corpus.clips.at(0);
  EXPECT_EQ(clip.text_raw, "Und es gibt auch");
  EXPECT_EQ(clip.speaker, "DE_B00000_S00000");
  EXPECT_EQ(clip.language, "de");
  EXPECT_EQ(clip.extra_json, R"({"dnsmos":3.3697,"duration":3.228})");
  const std::string problems = problems_of(corpus);
  EXPECT_TRUE(says(problems, "DE/DE_B00000.jsonl:2 : the line is not JSON")) << problems;
  EXPECT_TRUE(says(problems, "DE/DE_B00000.jsonl:3 DE_B00000_S00000_W000029: no audio"))
      << problems;
}

TEST(Emilia, ReadsAFileAClipAsTheArchivesUnpack) {
  MemoryEnv env;
  for (const std::string name : {"DE_B00000_S00000_W000000", "DE_B00000_S00000_W000001"}) {
    env.add_file("/data/DE-B000000/" + name + ".json", emilia_row(name));
    add_audio(env, {"DE-B000000/" + name + ".mp3"});
  }
  env.add_file("/data/DE-B000000/broken.json", "{");
  add_audio(env, {"DE-B000000/broken.mp3"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "emilia");
  EXPECT_EQ(ids_of(corpus), (Ids{"DE_B00000_S00000_W000000", "DE_B00000_S00000_W000001"}));
  EXPECT_EQ(corpus.clips[0].source, "DE-B000000/DE_B00000_S00000_W000000.mp3");
  EXPECT_TRUE(says(problems_of(corpus), "DE-B000000/broken.json broken: is no JSON of a clip"))
      << problems_of(corpus);
}

TEST(Emilia, OtherJsonBesideAudioIsNoneOfIt) {
  MemoryEnv env;
  env.add_file("/data/a.json", R"({"text": "x"})");
  env.add_file("/data/b/c.jsonl", R"({"id": "x", "wav": "y", "text": "z", "speaker": "s"})");
  add_audio(env, {"a.wav", "b/c.wav"});
  EXPECT_EQ(layout_of(env), "folder");
}

}  // namespace
}  // namespace xtts::corpus
