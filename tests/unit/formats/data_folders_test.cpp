#include "formats/data_folders.hpp"

#include <gtest/gtest.h>

namespace xtts::formats {
namespace {

TEST(DataFolders, WhatIsMissingIsThatOfTheLastBuild) {
  const DataFolders last{"/data", {"/mnt/hdd"}};
  DataFolders none;
  none.complete_from(last);
  EXPECT_EQ(none, last);
  DataFolders moved{"/moved", {}};
  moved.complete_from(last);
  EXPECT_EQ(moved, (DataFolders{"/moved", {"/mnt/hdd"}}));
  DataFolders other_roots{"", {"/srv"}};
  other_roots.complete_from(last);
  EXPECT_EQ(other_roots, (DataFolders{"/data", {"/srv"}}));
}

TEST(DataFolders, RootsAreQuotedInCommands) {
  EXPECT_EQ((DataFolders{"/data", {"/mnt/my disk", "/srv"}}.audio_root_options()),
            " --audio-root '/mnt/my disk' --audio-root /srv");
  EXPECT_EQ(DataFolders{"/data"}.audio_root_options(), "");
}

}  // namespace
}  // namespace xtts::formats
