#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kCss10Example("css10", "x",
                                  {{"transcript.txt", "b/b_0001.wav|Go.|go|1.5\n"},
                                   {"b/b_0001.wav", ""}},
                                  "CSS10 transcripts (x/transcript.txt) are in DATA");

// As the archives of CSS10 unpack, one a language.
void add_css10(MemoryEnv& env) {
  env.add_file("/data/german/transcript.txt",
               "meisterfloh/meisterfloh_0001.wav|Gleich zu Anfang|Gleich zu Anfang.|5.30\n"
               "meisterfloh/meisterfloh_0002.wav|Es ist ein Buch|es ist ein Buch|2.5\n");
  env.add_file("/data/chinese/transcript.txt",
               "call_to_arms/call_to_arms_0001.wav|我在年青|wo3 zai4 nian2 qing1|4.38\n");
  add_audio(env,
            {"german/meisterfloh/meisterfloh_0001.wav", "german/meisterfloh/meisterfloh_0002.wav",
             "chinese/call_to_arms/call_to_arms_0001.wav"});
}

TEST(Css10, ReadsEachLanguage) {
  MemoryEnv env;
  add_css10(env);
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "css10");
  EXPECT_EQ(ids_of(corpus),
            (Ids{"chinese/call_to_arms/call_to_arms_0001", "german/meisterfloh/meisterfloh_0001",
                 "german/meisterfloh/meisterfloh_0002"}));
  const Clip german = clip_of(corpus, "german/meisterfloh/meisterfloh_0001");
  EXPECT_EQ(german.language, "de");
  EXPECT_EQ(german.text_raw, "Gleich zu Anfang");
  EXPECT_EQ(german.text_normalized, "Gleich zu Anfang.");
  EXPECT_EQ(german.extra_json, R"({"duration":5.3})");
  const Clip chinese = clip_of(corpus, "chinese/call_to_arms/call_to_arms_0001");
  EXPECT_EQ(chinese.language, "zh");
  EXPECT_EQ(chinese.text_normalized, "wo3 zai4 nian2 qing1");
  EXPECT_EQ(problems_of(corpus), "");
}

TEST(Css10, OneLanguageIsKnownByTheNameOfItsFolder) {
  MemoryEnv env;
  add_css10(env);
  const auto corpus = discover(env, "/data/german", {});
  ASSERT_TRUE(corpus.ok());
  EXPECT_EQ(ids_of(*corpus), (Ids{"meisterfloh/meisterfloh_0001", "meisterfloh/meisterfloh_0002"}));
  EXPECT_EQ(corpus->clips[0].language, "de");
}

TEST(Css10, EachUnusableLineIsNamed) {
  MemoryEnv env;
  env.add_file("/data/transcript.txt",
               "b/a.wav|x|x|1.0\nb/c.wav|x|x|long\nb/d.wav|one text|1.0\nb/e.wav|x|x|1\n");
  add_audio(env, {"b/a.wav", "b/c.wav", "b/d.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"b/a"}));
  const std::string problems = problems_of(corpus);
  EXPECT_TRUE(says(problems, "transcript.txt:2 b/c.wav: the line is not PATH|text|")) << problems;
  EXPECT_TRUE(says(problems, "transcript.txt:3 b/d.wav: the line is not PATH|text|")) << problems;
  EXPECT_TRUE(says(problems, "transcript.txt:4 b/e: no audio named b/e.wav")) << problems;
}

TEST(Css10, ATranscriptOfAnotherFormIsNoneOfIt) {
  MemoryEnv env;
  env.add_file("/data/transcript.txt", "He said: this|that\n");
  add_audio(env, {"a.wav"});
  EXPECT_EQ(layout_of(env), "folder");
}

}  // namespace
}  // namespace xtts::corpus
