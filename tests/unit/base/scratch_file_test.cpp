#include "base/scratch_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <numeric>
#include <vector>

#include "support/temp_folder.hpp"

namespace xtts {
namespace {

using Opener = Result<std::unique_ptr<ScratchFile>> (*)(const std::string& folder);

bool is_there(const std::string& path) {
  return std::filesystem::exists(std::filesystem::symlink_status(path));
}

// Without a name from the start, and with one for a moment.
class ScratchFileTest : public ::testing::TestWithParam<Opener> {
 protected:
  [[nodiscard]] Result<std::unique_ptr<ScratchFile>> open() const {
    return GetParam()(folder_.path());
  }

  testing::TempFolder folder_;
};

TEST_P(ScratchFileTest, GivesBackWhatItWasGivenAndHasNoName) {
  auto file = open();
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  std::vector<float> numbers(10'000);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE((*file)->append(std::as_bytes(std::span(numbers))).ok());
  std::vector<float> read(10'000, -1.0F);
  const auto all = (*file)->read_at(40'000, std::as_writable_bytes(std::span(read)));
  EXPECT_EQ(*all, 40'000U);
  EXPECT_EQ(read, numbers);
  const auto last = (*file)->read_at(80'000 - 4, std::as_writable_bytes(std::span(read)));
  EXPECT_EQ(*last, 4U);
  EXPECT_EQ(read.front(), 9'999.0F);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_P(ScratchFileTest, TwoInOneFolderAreApart) {
  auto one = open();
  auto two = open();
  ASSERT_TRUE(one.ok());
  ASSERT_TRUE(two.ok());
  ASSERT_TRUE((*one)->append(as_bytes("one")).ok());
  ASSERT_TRUE((*two)->append(as_bytes("two")).ok());
  std::array<std::byte, 3> read{};
  ASSERT_EQ(*(*one)->read_at(0, read), 3U);
  EXPECT_TRUE(std::ranges::equal(read, as_bytes("one")));
}

TEST_P(ScratchFileTest, AKilledProcessLeavesNothing) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto file = open();
    if (!file || !(*file)->append(as_bytes("much")).ok()) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_P(ScratchFileTest, AFolderThatIsNotThereIsNamed) {
  const std::string missing = join_path(folder_.path(), "missing");
  const auto file = GetParam()(missing);
  EXPECT_EQ(file.status().code(), StatusCode::kNotFound);
  EXPECT_NE(file.status().message().find(missing), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(, ScratchFileTest,
                         ::testing::Values(&open_real_scratch, &open_scratch_by_name));

const std::string kLeftover = ".xtts-scratch-0123";

TEST(ScratchLeftover, OfAKillGoesWithTheNextCall) {
  const testing::TempFolder folder;
  folder.write(kLeftover, "");
  ASSERT_TRUE(open_scratch_by_name(folder.path()).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ScratchLeftover, WhatIsNotOursStays) {
  const testing::TempFolder folder;
  const std::string target = folder.write("target", "somebody's");
  const std::string link = join_path(folder.path(), kLeftover + "link");
  const std::string fifo = join_path(folder.path(), kLeftover + "fifo");
  std::filesystem::create_symlink(target, link);
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::filesystem::create_directory(join_path(folder.path(), kLeftover + "folder"));
  const std::string foreign = folder.write(kLeftover + "foreign", "");
  constexpr uid_t kNobody = 65534;
  const bool has_foreign = ::geteuid() == 0 && ::chown(foreign.c_str(), kNobody, kNobody) == 0;
  ASSERT_TRUE(open_scratch_by_name(folder.path()).ok());
  EXPECT_EQ(std::filesystem::file_size(target), 10U);
  EXPECT_TRUE(is_there(link));
  EXPECT_TRUE(is_there(fifo));
  EXPECT_TRUE(is_there(join_path(folder.path(), kLeftover + "folder")));
  EXPECT_EQ(is_there(foreign), has_foreign);
}

TEST(OpenScratch, AsksTheEnvThatIsAPlaceForIt) {
  const testing::TempFolder folder;
  EXPECT_TRUE(open_scratch(Env::real(), folder.path()).ok());
}

}  // namespace
}  // namespace xtts
