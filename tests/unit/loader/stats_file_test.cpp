#include "loader/stats_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/temp_folder.hpp"

namespace xtts::loader {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class StatsFileTest : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("XTTS_READER_STATS", folder_.path().c_str(), 1); }
  void TearDown() override { ::unsetenv("XTTS_READER_STATS"); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_.path())) found.push_back(entry.path());
    return found;
  }

  testing::TempFolder folder_;
  const std::chrono::steady_clock::time_point now_ = std::chrono::steady_clock::now();
};

TEST_F(StatsFileTest, IsWrittenOnceASecondAndGoesWithItsOwner) {
  auto file = StatsFile::open_if_asked();
  ASSERT_NE(file, nullptr);
  EXPECT_TRUE(file->is_due(now_));
  file->write(now_, {.batches = 3, .samples = 96, .bytes = 1000, .consumer_wait_s = 0.25});
  EXPECT_FALSE(file->is_due(now_ + 900ms));
  EXPECT_TRUE(file->is_due(now_ + 1s));
  ASSERT_EQ(files().size(), 1U);
  std::ifstream text(files()[0]);
  const auto document = nlohmann::json::parse(text);
  EXPECT_EQ(document["batches"], 3);
  EXPECT_EQ(document["consumer_wait_s"], 0.25);
  file.reset();
  EXPECT_TRUE(files().empty());
}

// A FIFO would stop the training for good: nobody reads it.
TEST_F(StatsFileTest, WhatLiesUnderItsNameNeitherStopsNorMisleadsIt) {
  auto file = StatsFile::open_if_asked();
  file->write(now_, {.batches = 1});
  const fs::path path = files().at(0);
  const std::string draft = path.string() + ".new";
  const std::string elsewhere = folder_.path() + "/mine";
  std::ofstream(elsewhere) << "mine";
  const auto batches = [&] {
    std::ifstream text(path);
    return nlohmann::json::parse(text)["batches"].get<int>();
  };
  ASSERT_EQ(::mkfifo(draft.c_str(), 0600), 0);
  file->write(now_, {.batches = 2});
  EXPECT_EQ(batches(), 2);
  for (const std::string& target :
       {elsewhere, folder_.path() + "/none", std::string("/dev/full")}) {
    fs::create_symlink(target, draft);
    file->write(now_, {.batches = 3});
    EXPECT_EQ(batches(), 3);
  }
  fs::create_directory(draft);
  file->write(now_, {.batches = 4});
  EXPECT_EQ(batches(), 3) << "nothing is written, and nothing is lost";
  fs::remove(draft);
  fs::remove(path);
  fs::create_directories(path / "full");
  file->write(now_, {.batches = 5});
  EXPECT_FALSE(fs::exists(draft));
  std::string kept;
  std::ifstream(elsewhere) >> kept;
  EXPECT_EQ(kept, "mine");
}

TEST_F(StatsFileTest, WhatIsNoFolderIsNotWrittenTo) {
  const std::string fifo = folder_.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  fs::create_symlink(folder_.path() + "/none", folder_.path() + "/dangling");
  for (const std::string& path : {fifo, std::string("/dev/null"), folder_.path() + "/dangling"}) {
    ::setenv("XTTS_READER_STATS", path.c_str(), 1);
    StatsFile::open_if_asked()->write(now_, {.batches = 1});
  }
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(StatsFileTest, TwoReadersHaveAFileEach) {
  const auto one = StatsFile::open_if_asked();
  const auto two = StatsFile::open_if_asked();
  one->write(now_, {});
  two->write(now_, {});
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(StatsFileTest, NothingIsWrittenUnlessAsked) {
  ::unsetenv("XTTS_READER_STATS");
  EXPECT_EQ(StatsFile::open_if_asked(), nullptr);
  ::setenv("XTTS_READER_STATS", "", 1);
  EXPECT_EQ(StatsFile::open_if_asked(), nullptr);
}

TEST_F(StatsFileTest, AFolderThatIsNotThereDisturbsNobody) {
  ::setenv("XTTS_READER_STATS", "/no/such/folder", 1);
  const auto file = StatsFile::open_if_asked();
  file->write(now_, {});
}

}  // namespace
}  // namespace xtts::loader
