#include "corpus/lists/audio_finder.hpp"

#include <gtest/gtest.h>

#include "support/memory_env.hpp"

namespace xtts::corpus {
namespace {

// The tree and the index that a finder looks at, with audio in /data.
struct Searched {
  explicit Searched(const std::vector<std::string>& audio) {
    for (const std::string& path : audio) env.add_file("/data/" + path, "");
    tree = *scan_data(env, "/data");
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
  Searched data({"wavs/LJ001-0001.wav", "wavs/cafe\u0301.wav"});
  EXPECT_NE(data.finder->explain_miss(data.source, "lj001-0001").reason.find("LJ001-0001.wav"),
            std::string::npos);
  EXPECT_NE(data.finder->explain_miss(data.source, "caf\u00E9").reason.find("encoding"),
            std::string::npos);
  EXPECT_EQ(data.finder->explain_miss(data.source, "gone").reason, "no audio named gone in wavs/");
}

TEST(AudioFinder, AMissNamesWhatWasRefused) {
  Searched data({"wavs/x.wav/inside.wav"});
  EXPECT_EQ(data.finder->explain_miss(data.source, "x").reason, "wavs/x.wav is a folder");
}

}  // namespace
}  // namespace xtts::corpus
