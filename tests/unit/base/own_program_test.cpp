#include "base/own_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/temp_folder.hpp"

namespace xtts {
namespace {

using ::testing::HasSubstr;

Result<std::string> find(const std::string& folder, const std::string& installed) {
  return find_own_program("xtts-decode", "in whose processes audio is decoded", folder, installed);
}

TEST(OwnProgram, LooksBesideInTheInstallationAndInABuildFolder) {
  const testing::TempFolder folder;
  const std::string bin = folder.path() + "/usr/bin";
  std::filesystem::create_directories(bin);
  const auto missing = find(bin, "../lib/exec");
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  for (const std::string place : {"../libexec/xtts-precompute", "../lib/exec", "."}) {
    const auto program = (std::filesystem::path(bin) / place / "xtts-decode").lexically_normal();
    if (place != ".") {
      EXPECT_THAT(missing.status().message(),
                  HasSubstr(bin + "/" + place + "/xtts-decode: No such"));
    }
    std::filesystem::create_directories(program.parent_path());
    std::ofstream(program) << "#!/bin/sh\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const auto found = find(bin, "../lib/exec");
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(std::filesystem::path(*found).lexically_normal(), program);
  }
  EXPECT_EQ(find("", "../lib/exec").status().code(), StatusCode::kNotFound);
}

TEST(OwnProgram, IsNotRunWhereAllMayWriteToIt) {
  const testing::TempFolder folder;
  const std::string program = folder.path() + "/xtts-decode";
  std::ofstream(program) << "#!/bin/sh\n";
  std::filesystem::permissions(program, std::filesystem::perms::all);
  const auto refused = find(folder.path(), "../lib/exec");
  EXPECT_EQ(refused.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(refused.status().message(), HasSubstr("another user"));
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  EXPECT_TRUE(find(folder.path(), "../lib/exec").ok());
}

TEST(OwnProgram, IsNoFolder) {
  const testing::TempFolder folder;
  std::filesystem::create_directories(folder.path() + "/xtts-decode");
  EXPECT_THAT(find(folder.path(), "../lib/exec").status().message(), HasSubstr("not a file"));
}

}  // namespace
}  // namespace xtts
