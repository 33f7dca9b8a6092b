#include "corpus/lists/audio_finder.hpp"

#include <gtest/gtest.h>

#include "support/memory_env.hpp"

namespace xtts::corpus {
namespace {

// The tree and the index that a finder looks at, with audio in /data.
struct Searched {
  explicit Searched(const std::vector<std::string>& audio) {
    for (const std::string& path : audio) env.add_file("/data/" + path, "");
    tree = *scan_data(env, {"/data"});
    index.emplace(tree);
    finder.emplace(tree, *index);
  }

  testing::MemoryEnv env;
  DataTree tree;
  std::optional<AudioIndex> index;
  std::optional<AudioFinder> finder;
  ListSource source{"metadata.csv", "wavs", std::nullopt};
};

TEST(AudioFinder, EveryWayToNameAClipGivesTheSameId) {
  const Searched data({"wavs/LJ001-0001.flac"});
  for (const auto listed : {"LJ001-0001", "LJ001-0001.flac", "wavs/LJ001-0001",
                            "wavs/LJ001-0001.flac", "./LJ001-0001", "./wavs/LJ001-0001.flac"}) {
    const auto audio = data.finder->find(data.source, listed);
    ASSERT_TRUE(audio) << listed;
    EXPECT_EQ(audio->id, "LJ001-0001") << listed;
    EXPECT_EQ(audio->file->path, "wavs/LJ001-0001.flac");
  }
}

TEST(AudioFinder, AnIdMayHoldAFolderAndDots) {
  const Searched data({"wavs/spk2/snt.1.mp3"});
  EXPECT_EQ(data.finder->find(data.source, "spk2/snt.1")->id, "spk2/snt.1");
  EXPECT_FALSE(data.finder->find(data.source, "snt.1"));
}

TEST(AudioFinder, TheNamedExtensionWinsOverThePreferredOne) {
  const Searched data({"wavs/a.mp3", "wavs/a.flac", "wavs/a.wav"});
  EXPECT_EQ(data.finder->find(data.source, "a")->file->path, "wavs/a.wav");
  EXPECT_TRUE(data.finder->find(data.source, "a")->has_rivals);
  EXPECT_EQ(data.finder->find(data.source, "a.mp3")->file->path, "wavs/a.mp3");
}

TEST(AudioFinder, ANameThatLooksLikeAnExtensionIsAStemToo) {
  const Searched data({"wavs/hi.au.wav"});
  const auto audio = data.finder->find(data.source, "hi.au");
  ASSERT_TRUE(audio);
  EXPECT_EQ(audio->id, "hi.au");
}

TEST(AudioFinder, AudioBesideTheListIsFound) {
  Searched data({"LJ001-0001.wav"});
  data.source.audio_folder = "";
  EXPECT_EQ(data.finder->find(data.source, "LJ001-0001")->file->path, "LJ001-0001.wav");
}

TEST(AudioFinder, AnAbsolutePathMeansOneFileOnly) {
  Searched data({"a.wav", "wavs/a.wav", "lists/wavs/a.wav"});
  data.source.list = "lists/list.txt";
  for (const auto& [listed, expected] :
       {std::pair("/data/a.wav", "a.wav"), std::pair("/data/wavs/a.wav", "wavs/a.wav"),
        std::pair("../a.wav", "a.wav"), std::pair("wavs/../../wavs/a.wav", "wavs/a.wav")}) {
    const auto path = path_inside(data.tree, data.source, listed);
    ASSERT_TRUE(path.ok()) << listed;
    const auto audio = data.finder->find(data.source, *path);
    ASSERT_TRUE(audio) << listed;
    EXPECT_EQ(audio->file->path, expected) << listed;
    EXPECT_EQ(audio->id, "a") << listed;
  }
}

TEST(AudioFinder, PathsThatLeaveDataAreNamedAsSuch) {
  Searched data({"a.wav"});
  for (const auto listed : {"/etc/a.wav", "../a.wav", "/data/../etc/a.wav", "/database/a.wav"}) {
    const auto path = path_inside(data.tree, data.source, listed);
    ASSERT_FALSE(path.ok()) << listed;
    EXPECT_NE(path.status().message().find("leaves DATA (/data)"), std::string::npos);
  }
}

TEST(AudioFinder, AMissNamesTheFileThatLooksAlike) {
  Searched data({"wavs/LJ001-0001.wav", "wavs/\u06CC\u06A9-\u06F1.wav",
                 "wavs/\u0645\u06CC\u0631\u0648\u062F.wav"});
  EXPECT_EQ(data.finder->explain_miss(data.source, "lj001-0001").reason,
            "no audio of this name; wavs/LJ001-0001.wav is almost it: the list has 'l' (U+006C) "
            "where the file has 'L' (U+004C)");
  EXPECT_EQ(
      data.finder->explain_miss(data.source, "\u064A\u06A9-1").reason,
      "no audio of this name; wavs/\u06CC\u06A9-\u06F1.wav is almost it: the list has '\u064A' "
      "(U+064A) where the file has '\u06CC' (U+06CC)");
  EXPECT_EQ(
      data.finder->explain_miss(data.source, "\u06CC\u0643-\u06F1").reason,
      "no audio of this name; wavs/\u06CC\u06A9-\u06F1.wav is almost it: the list has '\u0643' "
      "(U+0643) where the file has '\u06A9' (U+06A9)");
  EXPECT_EQ(
      data.finder->explain_miss(data.source, "\u0645\u06CC\u200C\u0631\u0648\u062F").reason,
      "no audio of this name; wavs/\u0645\u06CC\u0631\u0648\u062F.wav is almost it: the list has "
      "U+200C (zero width non-joiner) more");
  EXPECT_EQ(data.finder->explain_miss(data.source, "gone").reason, "no audio named gone in wavs/");
}

// macOS gives two code points for a letter with an accent, where lists mostly have one.
TEST(AudioFinder, ANameInAnotherUnicodeFormIsTheSameName) {
  Searched data({"wavs/cafe\u0301.wav", "wavs/\u00E9te\u0301/a.flac", "wavs/na\u00EFf.wav"});
  for (const auto& [listed, path] : {std::pair("caf\u00E9", "wavs/cafe\u0301.wav"),
                                     std::pair("caf\u00E9.wav", "wavs/cafe\u0301.wav"),
                                     std::pair("e\u0301t\u00E9/a", "wavs/\u00E9te\u0301/a.flac"),
                                     std::pair("nai\u0308f.wav", "wavs/na\u00EFf.wav")}) {
    const auto audio = data.finder->find(data.source, listed);
    ASSERT_TRUE(audio) << listed;
    EXPECT_EQ(audio->file->path, path);
    EXPECT_EQ(audio->id, std::string_view(listed).substr(0, std::string_view(listed).find('.')))
        << "an id is as the list has it";
  }
  EXPECT_FALSE(data.finder->find(data.source, "cafe")) << "an accent is no matter of form";
}

TEST(AudioFinder, TheExactNameGoesBeforeAnotherForm) {
  Searched data({"wavs/cafe\u0301.wav", "wavs/caf\u00E9.wav"});
  for (const std::string name : {"cafe\u0301", "caf\u00E9"})
    EXPECT_EQ(data.finder->find(data.source, name)->file->path, "wavs/" + name + ".wav");
}

// Marks above and below a letter have two orders, which are one name.
TEST(AudioFinder, ANameThatTwoOtherFormsHaveIsNoneOfThem) {
  Searched data({"wavs/e\u0323\u0301.wav", "wavs/e\u0301\u0323.wav", "wavs/e\u0323.wav",
                 "wavs/\u1EC7.wav", "wavs/e\u0302\u0323.wav"});
  EXPECT_FALSE(data.finder->find(data.source, "\u1EB9\u0301"));
  EXPECT_FALSE(data.finder->find(data.source, "\u1EB9\u0301.wav"));
  EXPECT_FALSE(data.finder->find(data.source, "e\u0323\u0302"));
  EXPECT_TRUE(data.finder->find(data.source, "e\u0301\u0323"));
  EXPECT_TRUE(data.finder->find(data.source, "\u1EB9"));
}

TEST(AudioFinder, AMissNamesWhatWasRefused) {
  Searched data({"wavs/x.wav/inside.wav"});
  EXPECT_EQ(data.finder->explain_miss(data.source, "x").reason, "wavs/x.wav is a folder");
}

}  // namespace
}  // namespace xtts::corpus
