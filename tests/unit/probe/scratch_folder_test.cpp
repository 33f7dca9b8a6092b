#include "probe/scratch_folder.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/temp_folder.hpp"

namespace xtts::testing {
namespace {

using probe::ScratchFolder;

std::unique_ptr<ScratchFolder> must_make(const TempFolder& parent) {
  auto made = ScratchFolder::make(parent.path());
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made ? std::move(*made) : nullptr;
}

// A process that dies with its folder in place: no destructor runs.
std::string left_by_killed_process(const TempFolder& parent) {
  int ends[2] = {};
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto folder = ScratchFolder::make(parent.path());
    std::ofstream((*folder)->path() + "/file") << "text";
    (void)!::write(ends[1], (*folder)->path().data(), (*folder)->path().size());
    ::_exit(0);
  }
  ::close(ends[1]);
  char path[4096] = {};
  EXPECT_GT(::read(ends[0], path, sizeof path - 1), 0);
  ::close(ends[0]);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  return path;
}

TEST(DoctorsFolder, OfAKilledDoctorIsRemovedByTheNext) {
  const TempFolder parent;
  const std::string left = left_by_killed_process(parent);
  ASSERT_TRUE(std::filesystem::exists(left + "/file"));
  const auto next = must_make(parent);
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(next->path()));
}

TEST(DoctorsFolder, OfALivingDoctorStaysUntilItsEnd) {
  const TempFolder parent;
  auto first = must_make(parent);
  const std::string path = first->path();
  const auto second = must_make(parent);
  EXPECT_TRUE(std::filesystem::exists(path));
  first.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(DoctorsFolder, OtherNamesAndLinksStay) {
  const TempFolder parent;
  const TempFolder elsewhere;
  std::ofstream(elsewhere.path() + "/file") << "text";
  std::filesystem::create_directory(parent.path() + "/other");
  std::filesystem::create_directory_symlink(elsewhere.path(), parent.path() + "/xtts-doctor-link");
  (void)must_make(parent);
  EXPECT_TRUE(std::filesystem::exists(parent.path() + "/other"));
  EXPECT_TRUE(std::filesystem::exists(elsewhere.path() + "/file"));
}

}  // namespace
}  // namespace xtts::testing
