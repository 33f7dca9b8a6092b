// Tests of the order in which NVIDIA's libraries are looked for, on copies of the system's libm.
#include "cuda/library.hpp"

#include <gtest/gtest.h>
#include <link.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/temp_folder.hpp"

namespace xtts::cuda {
namespace {

constexpr const char* kSetting = "XTTS_TEST_LIBRARIES";

std::string path_of(void* library) {
  link_map* map = nullptr;
  EXPECT_EQ(::dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
  return map->l_name;
}

class OpenLibrary : public ::testing::Test {
 protected:
  OpenLibrary() {
    const std::string system = path_of(::dlopen("libm.so.6", RTLD_NOW));
    std::filesystem::copy_file(system, old_.path() + "/libxtts_old.so");
    std::filesystem::copy_file(system, new_.path() + "/libxtts_old.so");
    std::filesystem::copy_file(system, new_.path() + "/libxtts_new.so");
  }
  ~OpenLibrary() override { ::unsetenv(kSetting); }

  // Returns the library that is opened of two names, the wanted one first.
  [[nodiscard]] static std::string opened(const std::string& folders, const char* second) {
    ::setenv(kSetting, folders.c_str(), 1);
    const std::array<const char*, 2> names = {"libxtts_new.so", second};
    const auto library = open_library(names, kSetting);
    return library.ok() ? path_of(*library) : library.status().message();
  }

  testing::TempFolder old_, new_;
};

TEST_F(OpenLibrary, TakesTheFirstFolderThatHasOneAndInItTheFirstName) {
  EXPECT_EQ(opened(new_.path(), "libxtts_old.so"), new_.path() + "/libxtts_new.so");
  EXPECT_EQ(opened(old_.path() + ":" + new_.path(), "libxtts_old.so"),
            old_.path() + "/libxtts_old.so");
  EXPECT_EQ(opened("/nowhere::" + new_.path() + ":", "libxtts_old.so"),
            new_.path() + "/libxtts_new.so");
}

// A folder's later name comes before the system's earlier one.
TEST_F(OpenLibrary, TakesTheSystemsOnlyWhereNoFolderHasOne) {
  ::setenv(kSetting, old_.path().c_str(), 1);
  const std::array<const char*, 2> names = {"libm.so.6", "libxtts_old.so"};
  EXPECT_EQ(path_of(*open_library(names, kSetting)), old_.path() + "/libxtts_old.so");
  EXPECT_NE(path_of(*open_library(names)), old_.path() + "/libxtts_old.so");
}

TEST_F(OpenLibrary, SaysWhereItLooked) {
  const std::string why = opened("/nowhere", "libxtts_other.so");
  EXPECT_NE(why.find("/nowhere/libxtts_new.so"), std::string::npos) << why;
  EXPECT_NE(why.find("libxtts_other.so"), std::string::npos) << why;
}

}  // namespace
}  // namespace xtts::cuda
