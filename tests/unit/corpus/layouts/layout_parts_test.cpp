#include "corpus/layouts/layout_parts.hpp"

#include <gtest/gtest.h>

#include "tests/unit/corpus/corpus_checks.hpp"

namespace xtts::corpus {
namespace {

DataTree tree_of(std::string root, std::string real_root) {
  DataTree tree;
  tree.root = std::move(root);
  tree.real_root = std::move(real_root);
  return tree;
}

TEST(LayoutParts, TheNearestFoldersMayLieAboveData) {
  const DataTree tree = tree_of("./x/", "/corpora/19/198");
  const auto nearest = [&](std::string_view path) {
    const NearestFolders folders = nearest_folders(tree, path);
    return std::string(folders.above) + "/" + std::string(folders.nearest);
  };
  EXPECT_EQ(nearest("a/b/c.flac"), "a/b");
  EXPECT_EQ(nearest("b/c.flac"), "198/b");
  EXPECT_EQ(nearest("c.flac"), "19/198");
}

TEST(LayoutParts, DataHasTheNameItWasGivenAndTheOneOnDisk) {
  using Names = std::vector<std::string_view>;
  const DataTree linked = tree_of("/home/me/mls_german//", "/disk/7");
  EXPECT_EQ(data_names(linked), (Names{"mls_german", "7"}));
  const DataTree here = tree_of(".", "/disk/mls_german");
  EXPECT_EQ(data_names(here), Names{"mls_german"});
  const DataTree plain = tree_of("/disk/x", "/disk/x");
  EXPECT_EQ(data_names(plain), Names{"x"});
}

TEST(LayoutParts, ASplitIsNamedByTheNearestFolder) {
  const DataTree tree = tree_of("/data", "/data");
  EXPECT_EQ(libri_split(tree, "LibriSpeech/train-clean-100/19/198"), Split::kTrain);
  EXPECT_EQ(libri_split(tree, "test-clean/dev-mine/19/198"), Split::kValidation);
  EXPECT_EQ(libri_split(tree, "test-other"), Split::kTest);
  EXPECT_EQ(libri_split(tree, "test/contest-a/trainers/19"), std::nullopt);
  EXPECT_EQ(libri_split(tree, ""), std::nullopt);
}

TEST(LayoutParts, DataItselfIsASplitByAnOfficialNameOnly) {
  const auto split = [](const char* name) {
    const DataTree tree = tree_of(std::string("/") + name, std::string("/") + name);
    return libri_split(tree, "19/198");
  };
  EXPECT_EQ(split("train-clean-360"), Split::kTrain);
  EXPECT_EQ(split("dev-other"), Split::kValidation);
  EXPECT_EQ(split("test-7"), std::nullopt);
}

}  // namespace
}  // namespace xtts::corpus
