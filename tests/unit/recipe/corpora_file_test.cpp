#include "recipe/corpora_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memory_env.hpp"

namespace xtts::recipe {
namespace {

using ::testing::HasSubstr;

Result<std::vector<formats::CorporaEntry>> load_text(std::string_view yaml) {
  testing::MemoryEnv env;
  env.add_file("/lists/corpora.yaml", yaml);
  return load_corpora(env, "/lists/corpora.yaml");
}

std::string failure(std::string_view yaml) {
  const auto entries = load_text(yaml);
  EXPECT_EQ(entries.status().code(), StatusCode::kInvalidArgument);
  return entries.status().message();
}

TEST(CorporaFile, IsKnownByItsName) {
  EXPECT_TRUE(is_corpora_file("corpora.yaml"));
  EXPECT_TRUE(is_corpora_file("/data/all.yml"));
  EXPECT_FALSE(is_corpora_file("/data/yaml"));
}

TEST(CorporaFile, FoldersAreRelativeToIt) {
  const auto entries = load_text(
      "- name: lj\n  path: LJSpeech-1.1\n"
      "- {name: vctk, path: /data/VCTK, layout: vctk, language: en, speaker_pattern: '(p[0-9]+)_',"
      " split: train}\n");
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  ASSERT_EQ(entries->size(), 2U);
  EXPECT_EQ((*entries)[0].name, "lj");
  EXPECT_EQ((*entries)[0].folder, "/lists/LJSpeech-1.1");
  EXPECT_EQ((*entries)[1].folder, "/data/VCTK");
  EXPECT_EQ((*entries)[1].layout, "vctk");
  EXPECT_EQ((*entries)[1].language, "en");
  EXPECT_EQ((*entries)[1].speaker_pattern, "(p[0-9]+)_");
  EXPECT_EQ((*entries)[1].split, "train");
}

// yaml-cpp would take the second corpus for a part of the first one's path.
TEST(CorporaFile, RefusesLinesThatEndInCrAlone) {
  EXPECT_THAT(failure("- name: a\r  path: /a\r- name: b\r  path: /b\r"),
              HasSubstr("/lists/corpora.yaml:1: a line ends in CR alone"));
  EXPECT_THAT(failure("- name: a\n  path: /a\r- name: b\n  path: /b\n"),
              HasSubstr("/lists/corpora.yaml:2: a line ends in CR alone"));
  const auto of_dos = load_text("- name: a\r\n  path: /a\r\n- name: b\r\n  path: /b\r\n");
  ASSERT_TRUE(of_dos.ok()) << of_dos.status().message();
  EXPECT_EQ(of_dos->size(), 2U);
}

TEST(CorporaFile, TellsEveryProblemWithItsLine) {
  const std::string text = failure(
      "- name: a/b\n  path: x\n  langauge: en\n"
      "- path: y\n  split: some\n"
      "- 17\n"
      "- name: c\n  path: z\n  speaker: s\n  speaker_pattern: p\n");
  EXPECT_THAT(text, HasSubstr("/lists/corpora.yaml:1: name: "));
  EXPECT_THAT(text, HasSubstr(":3: langauge: unknown key, did you mean language?"));
  EXPECT_THAT(text, HasSubstr(":4: name: missing"));
  EXPECT_THAT(text, HasSubstr(":5: split: takes train, validation or test"));
  EXPECT_THAT(text, HasSubstr(":6: expected 'name: ...'"));
  EXPECT_THAT(text, HasSubstr(":10: speaker_pattern: speaker is given too"));
}

TEST(CorporaFile, AudioRootsAreOneOrMoreFolders) {
  const auto entries = load_text(
      "- {name: a, path: a, audio_root: /mnt/hdd}\n"
      "- {name: b, path: b, audio_root: [wavs, /mnt/hdd]}\n");
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  EXPECT_EQ((*entries)[0].audio_roots, (std::vector<std::string>{"/mnt/hdd"}));
  EXPECT_EQ((*entries)[1].audio_roots, (std::vector<std::string>{"/lists/wavs", "/mnt/hdd"}));
  EXPECT_THAT(failure("- {name: a, path: a, audio_root: {x: y}}\n"),
              HasSubstr(":1: audio_root: takes a folder or a list of them"));
  EXPECT_THAT(failure("- {name: a, path: a, audio_roots: x}\n"),
              HasSubstr("did you mean audio_root?"));
}

TEST(CorporaFile, ColumnsAreThoseOfARecipe) {
  const auto entries =
      load_text("- {name: a, path: a, audio_column: mp3, text_column: gold, end_column: t1}\n");
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  EXPECT_EQ((*entries)[0].columns,
            (formats::CorpusColumns{.audio = "mp3", .text = "gold", .end = "t1"}));
}

TEST(CorporaFile, NamesAreUnique) {
  EXPECT_THAT(failure("- {name: a, path: x}\n- {name: a, path: y}\n"),
              HasSubstr(":2: name: a is the name of the corpus on line 1 too"));
}

TEST(CorporaFile, IsAListOfAtLeastOne) {
  EXPECT_THAT(failure("name: a\npath: x\n"), HasSubstr("expected a list of corpora"));
  EXPECT_THAT(failure("[]\n"), HasSubstr("names no corpus"));
  EXPECT_THAT(failure(""), HasSubstr("holds nothing"));
}

}  // namespace
}  // namespace xtts::recipe
