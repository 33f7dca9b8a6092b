#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kMailabsExample("mailabs", "x",
                                    {{"by_book/male/k/b/metadata.csv", "b_1|Go.|go\n"},
                                     {"by_book/male/k/b/wavs/b_1.wav", ""}},
                                    "M-AILABS lists (x/by_book/male/k/b/metadata.csv) are in DATA");

void add_mailabs(MemoryEnv& env) {
  const std::string book = "/data/de_DE/by_book/female/ramona_deininger/maerchen/";
  env.add_file(book + "metadata.csv",
               "maerchen_01_f000001|Es war 1mal|Es war einmal\nmaerchen_01_f000002|Ende|Ende\n");
  env.add_file(book + "metadata_mls.json", "{}");
  env.add_file(book + "wavs/maerchen_01_f000001.wav", "RIFF");
  env.add_file("/data/de_DE/by_book/male/karlsson/maerchen/metadata.csv",
               "maerchen_01_f000001|Anders|Anders\n");
  env.add_file("/data/de_DE/by_book/male/karlsson/maerchen/wavs/maerchen_01_f000001.wav", "RIFF");
  env.add_file("/data/en_US/by_book/mix/sonnets/metadata.csv", "s_1|Shall I|Shall I\n");
  env.add_file("/data/en_US/by_book/mix/sonnets/wavs/s_1.wav", "RIFF");
}

TEST(Mailabs, ReadsEveryBookOfEverySpeaker) {
  MemoryEnv env;
  add_mailabs(env);
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "mailabs");
  EXPECT_EQ(ids_of(corpus), (Ids{"karlsson/maerchen/maerchen_01_f000001",
                                 "ramona_deininger/maerchen/maerchen_01_f000001", "sonnets/s_1"}));
  const Clip clip = clip_of(corpus, "ramona_deininger/maerchen/maerchen_01_f000001");
  EXPECT_EQ(clip.text_raw, "Es war 1mal");
  EXPECT_EQ(clip.text_normalized, "Es war einmal");
  EXPECT_EQ(clip.speaker, "ramona_deininger");
  EXPECT_EQ(clip.language, "de");
  EXPECT_EQ(clip.extra_json, R"({"book":"maerchen","gender":"female"})");
  EXPECT_EQ(clip_of(corpus, "sonnets/s_1").speaker, "");
  EXPECT_EQ(clip_of(corpus, "sonnets/s_1").language, "en");
  EXPECT_TRUE(says(problems_of(corpus),
                   "metadata.csv:2 ramona_deininger/maerchen/"
                   "maerchen_01_f000002: no audio named"))
      << problems_of(corpus);
}

TEST(Mailabs, ASpeakersFolderGivesTheSameIds) {
  MemoryEnv env;
  add_mailabs(env);
  const auto corpus = discover(env, "/data/de_DE/by_book/female/ramona_deininger", {});
  ASSERT_TRUE(corpus.ok());
  EXPECT_EQ(corpus->layout, "mailabs");
  EXPECT_EQ(ids_of(*corpus), (Ids{"ramona_deininger/maerchen/maerchen_01_f000001"}));
  EXPECT_EQ(corpus->clips[0].speaker, "ramona_deininger");
}

}  // namespace
}  // namespace xtts::corpus
