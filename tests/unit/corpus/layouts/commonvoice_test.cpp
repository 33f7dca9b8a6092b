#include <gtest/gtest.h>

#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kCommonVoiceExample(
    "commonvoice", "x",
    {{"en/train.tsv", "client_id\tpath\tsentence\na\tcv_1.mp3\tGo.\n"}, {"en/clips/cv_1.mp3", ""}},
    "Common Voice lists (x/en/train.tsv) are in DATA");

constexpr auto kHeader =
    "client_id\tpath\tsentence_id\tsentence\tsentence_domain\tup_votes\tdown_votes\tage\tgender\t"
    "accents\tvariant\tlocale\tsegment\n";

// A row under kHeader.
std::string row(const std::string& client, const std::string& path, const std::string& sentence,
                const std::string& locale = "en") {
  return client + "\t" + path + "\tabc\t" + sentence + "\t\t2\t0\ttwenties\t\t\t\t" + locale +
         "\t\n";
}

void add_clip(MemoryEnv& env, const std::string& folder, const std::string& name) {
  env.add_file(folder + "/clips/" + name, "ID3");
}

TEST(CommonVoice, ReadsTheOfficialSplitsAndNotWhatIsValidated) {
  MemoryEnv env;
  env.add_file("/data/en/train.tsv", kHeader + row("anna", "common_voice_en_1.mp3", "One."));
  env.add_file("/data/en/dev.tsv", kHeader + row("ben", "common_voice_en_2.mp3", "Two."));
  env.add_file("/data/en/test.tsv", kHeader + row("cem", "common_voice_en_3.mp3", "Three."));
  env.add_file("/data/en/validated.tsv", kHeader + row("dan", "common_voice_en_4.mp3", "Four."));
  for (const auto name : {"other.tsv", "invalidated.tsv", "reported.tsv", "clip_durations.tsv"})
    env.add_file("/data/en/" + std::string(name), "not read");
  for (const auto number : {"1", "2", "3", "4"})
    add_clip(env, "/data/en", "common_voice_en_" + std::string(number) + ".mp3");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "commonvoice");
  EXPECT_EQ(ids_of(corpus), (Ids{"common_voice_en_1", "common_voice_en_2", "common_voice_en_3"}));
  const Clip clip = clip_of(corpus, "common_voice_en_1");
  EXPECT_EQ(clip.source, "en/clips/common_voice_en_1.mp3");
  EXPECT_EQ(clip.text_raw, "One.");
  EXPECT_EQ(clip.text_normalized, "One.");
  EXPECT_EQ(clip.speaker, "anna");
  EXPECT_EQ(clip.language, "en");
  EXPECT_EQ(clip.extra_json,
            R"({"age":"twenties","down_votes":"0","sentence_id":"abc","up_votes":"2"})");
  EXPECT_EQ(clip.split, Split::kTrain);
  EXPECT_EQ(clip_of(corpus, "common_voice_en_2").split, Split::kValidation);
  EXPECT_EQ(clip_of(corpus, "common_voice_en_3").split, Split::kTest);
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_TRUE(says(notes_of(corpus), "en/validated.tsv is not read: the official splits"));
  EXPECT_TRUE(says(notes_of(corpus), "--set corpus.metadata_train_file=validated.tsv"));
  EXPECT_TRUE(says(notes_of(corpus), "1 audio file is not used by the list"));
  EXPECT_EQ(corpus.ignored_file_count, 5U) << "validated.tsv and the four that are never read";
}

TEST(CommonVoice, AllThatIsValidatedIsReadOnRequest) {
  MemoryEnv env;
  env.add_file("/data/en/train.tsv", kHeader + row("anna", "common_voice_en_1.mp3", "One."));
  env.add_file("/data/en/validated.tsv", kHeader + row("anna", "common_voice_en_1.mp3", "One.") +
                                             row("dan", "common_voice_en_4.mp3", "Four."));
  for (const auto number : {"1", "4"})
    add_clip(env, "/data/en", "common_voice_en_" + std::string(number) + ".mp3");
  const Corpus corpus = discover_data(
      env, {.train_split = 0.0, .validation_split = 1.0, .metadata_train_file = "validated.tsv"});
  EXPECT_EQ(corpus.layout, "commonvoice");
  EXPECT_EQ(ids_of(corpus), (Ids{"common_voice_en_1", "common_voice_en_4"}));
  EXPECT_EQ(clip_of(corpus, "common_voice_en_1").split, Split::kValidation)
      << "what is validated has no splits of its own";
}

TEST(CommonVoice, ValidatedAloneHasNoSplitsOfItsOwn) {
  MemoryEnv env;
  env.add_file("/data/validated.tsv", kHeader + row("anna", "common_voice_fa_1.mp3", "سلام", ""));
  add_clip(env, "/data", "common_voice_fa_1.mp3");
  const Corpus corpus = discover_data(env, {.train_split = 0, .validation_split = 1});
  const Clip clip = clip_of(corpus, "common_voice_fa_1");
  EXPECT_EQ(clip.split, Split::kValidation) << "by the hash";
  EXPECT_EQ(clip.text_raw, "سلام");
  EXPECT_EQ(clip.language, "data") << "the name of the folder, where there is no locale";
}

TEST(CommonVoice, ColumnsGoByTheirNames) {
  MemoryEnv env;
  env.add_file("/data/de/train.tsv",
               "locale\taccent\tsentence\tpath\tclient_id\n"
               "de\tBayern\tGrüß Gott\tcommon_voice_de_1\tanna\n");
  env.add_file("/data/fr/train.tsv",
               "client_id\tpath\tsentence\nbea\tcommon_voice_fr_1.mp3\toui\n");
  add_clip(env, "/data/de", "common_voice_de_1.mp3");
  add_clip(env, "/data/fr", "common_voice_fr_1.mp3");
  const Corpus corpus = discover_data(env);
  const Clip german = clip_of(corpus, "common_voice_de_1");
  EXPECT_EQ(german.source, "de/clips/common_voice_de_1.mp3") << "old releases name no extension";
  EXPECT_EQ(german.text_raw, "Grüß Gott");
  EXPECT_EQ(german.speaker, "anna");
  EXPECT_EQ(german.language, "de");
  EXPECT_EQ(german.extra_json, R"({"accent":"Bayern"})");
  const Clip french = clip_of(corpus, "common_voice_fr_1");
  EXPECT_EQ(french.language, "fr") << "the folder's name";
  EXPECT_EQ(french.extra_json, "");
}

TEST(CommonVoice, ClipsThatWereConvertedAreFound) {
  MemoryEnv env;
  env.add_file("/data/en/train.tsv", kHeader + row("anna", "common_voice_en_1.mp3", "One.") +
                                         row("anna", "common_voice_en_2.mp3", "Two."));
  add_clip(env, "/data/en", "common_voice_en_1.wav");
  add_clip(env, "/data/en", "common_voice_en_2.mp3");
  add_clip(env, "/data/en", "common_voice_en_2.wav");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(clip_of(corpus, "common_voice_en_1").source, "en/clips/common_voice_en_1.wav");
  EXPECT_EQ(clip_of(corpus, "common_voice_en_2").source, "en/clips/common_voice_en_2.mp3")
      << "the list names this one";
}

TEST(CommonVoice, EachUnusableRowIsNamedAndTheRestStays) {
  MemoryEnv env;
  std::string list = std::string("\xEF\xBB\xBF") + kHeader;          // 1
  list += row("a", "common_voice_en_1.mp3", R"(\"Yes\" is \\)");     // 2
  list += "\n";                                                      // 3
  list += row("a", "common_voice_en_2.mp3", "no audio");             // 4
  list += row("a", "common_voice_en_1.mp3", "again");                // 5
  list += "a\tcommon_voice_en_3.mp3\tabc\tcut in two\n";             // 6
  list += row("a", "../../etc/passwd", "climbs");                    // 7
  list += row("a", "common_voice_en_3.mp3", "caf\xE9");              // 8
  list += row("a", "", "no path");                                   // 9
  list += row("a", "common_voice_en_4.mp3", "");                     // 10
  list += row(std::string(300, 'a'), "common_voice_en_3.mp3", "x");  // 11
  std::string crlf;
  for (const char c : list) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  env.add_file("/data/en/validated.tsv", crlf);
  for (const auto number : {"1", "3", "4"})
    add_clip(env, "/data/en", "common_voice_en_" + std::string(number) + ".mp3");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"common_voice_en_1", "common_voice_en_4"}));
  EXPECT_EQ(clip_of(corpus, "common_voice_en_1").text_raw, R"("Yes" is \)");
  EXPECT_EQ(problems_of(corpus),
            "en/validated.tsv:4 common_voice_en_2: no audio named common_voice_en_2 in en/clips/\n"
            "en/validated.tsv:5 common_voice_en_1: the same id is in line 2 of en/validated.tsv, "
            "which is used\n"
            "en/validated.tsv:6 : the line has 4 fields where the header line has 13\n"
            "en/validated.tsv:7 ../../etc/passwd: the id climbs out of its folder with '..'\n"
            "en/validated.tsv:8 : the line is not UTF-8 (byte 32); save it as UTF-8, or name its "
            "encoding, as in --encoding cp1256\n"
            "en/validated.tsv:9 : the id is empty\n"
            "en/validated.tsv:11 common_voice_en_3: the speaker has 300 bytes; at most 255 are "
            "allowed\n");
  EXPECT_TRUE(says(notes_of(corpus), "1 clip has no text"));
  EXPECT_TRUE(says(notes_of(corpus), "1 audio file is not used by the list"));
}

TEST(CommonVoice, ATableWithoutTheColumnsStopsDiscovery) {
  for (const auto header : {"", "client_id\tpath\ttext\n", "client_id,path,sentence\n"}) {
    MemoryEnv env;
    env.add_file("/data/en/train.tsv", kHeader + row("a", "common_voice_en_1.mp3", "One."));
    env.add_file("/data/en/test.tsv", header);
    add_clip(env, "/data/en", "common_voice_en_1.mp3");
    const Status status = discover(env, "/data", {.layout = "commonvoice"}).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << header;
    EXPECT_TRUE(says(status.message(), "en/test.tsv begins with '")) << status.message();
  }
}

TEST(CommonVoice, AListOfASplitMayHoldNoRow) {
  MemoryEnv env;
  env.add_file("/data/en/train.tsv", kHeader + row("a", "common_voice_en_1.mp3", "One."));
  env.add_file("/data/en/dev.tsv", kHeader);
  add_clip(env, "/data/en", "common_voice_en_1.mp3");
  EXPECT_EQ(ids_of(discover_data(env)), Ids{"common_voice_en_1"});
}

TEST(CommonVoice, ClipsThatLeaveDataAreTheReasonGiven) {
  MemoryEnv env;
  env.add_file("/data/en/train.tsv", kHeader + row("a", "common_voice_en_1.mp3", "One."));
  env.add_file("/disk/common_voice_en_1.mp3", "");
  env.add_link("/data/en/clips", "/disk");
  EXPECT_TRUE(says(refusal_of(env), "en/clips is a symbolic link that leaves DATA (to /disk)"));
}

}  // namespace
}  // namespace xtts::corpus
