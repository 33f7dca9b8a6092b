#include "corpus/files/data_tree.hpp"

#include <gtest/gtest.h>

#include "support/memory_env.hpp"

namespace xtts::corpus {
namespace {

using testing::EnvCall;
using testing::EnvOperation;
using testing::MemoryEnv;

std::vector<std::string> paths_of(const DataTree& tree) {
  std::vector<std::string> paths;
  for (const TreeFile& file : tree.files) paths.push_back(file.path);
  return paths;
}

std::string reason_of(const DataTree& tree, std::string_view path) {
  for (const Refusal& refusal : tree.refusals) {
    if (refusal.path == path) return refusal.reason;
  }
  return {};
}

TEST(DataTree, ListsNestedFilesWithoutHiddenOnes) {
  MemoryEnv env;
  for (const auto path :
       {"/data/b/2.wav", "/data/b/1.wav", "/data/a.txt", "/data/b/.x", "/data/.git/x.wav"}) {
    env.add_file(path, "");
  }
  const auto tree = scan_data(env, {"/data"});
  ASSERT_TRUE(tree.ok()) << tree.status().message();
  EXPECT_EQ(paths_of(*tree), (std::vector<std::string>{"a.txt", "b/1.wav", "b/2.wav"}));
  EXPECT_EQ(tree->hidden_count, 2U);
}

TEST(DataTree, RefusesWhatLeavesDataOrIsNoFile) {
  MemoryEnv env;
  env.add_file("/data/real.wav", "");
  env.add_file("/data-of-others/secret.wav", "");
  env.add_link("/data/good.wav", "real.wav");
  env.add_link("/data/out.wav", "../data-of-others/secret.wav");
  env.add_link("/data/out", "/data-of-others");
  env.add_link("/data/nowhere.wav", "gone.wav");
  env.add_link("/data/self.wav", "self.wav");
  env.add_special("/data/fifo.wav");
  env.add_link("/data/to_fifo.wav", "fifo.wav");
  const auto tree = scan_data(env, {"/data"});
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(paths_of(*tree), (std::vector<std::string>{"good.wav", "real.wav"}));
  EXPECT_NE(reason_of(*tree, "out.wav").find("leaves DATA"), std::string::npos)
      << "a sibling with DATA's name as prefix";
  EXPECT_NE(reason_of(*tree, "out").find("leaves DATA"), std::string::npos);
  EXPECT_NE(reason_of(*tree, "nowhere.wav").find("nowhere"), std::string::npos);
  EXPECT_NE(reason_of(*tree, "self.wav").find("itself"), std::string::npos);
  EXPECT_NE(reason_of(*tree, "fifo.wav").find("FIFO"), std::string::npos);
  EXPECT_NE(reason_of(*tree, "to_fifo.wav").find("FIFO"), std::string::npos);
  EXPECT_EQ(tree->refusals.size(), 6U);
}

TEST(DataTree, WalksEachFolderOnceWhateverLinksToIt) {
  MemoryEnv env;
  env.add_file("/data/deep/wavs22k/a.wav", "");
  env.add_link("/data/wavs", "deep/wavs22k");
  env.add_link("/data/deep/up", "..");
  env.add_link("/data/deep/wavs22k/self", ".");
  const auto tree = scan_data(env, {"/data"});
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(paths_of(*tree), std::vector<std::string>{"deep/wavs22k/a.wav"});
  EXPECT_EQ(tree->resolve("wavs/a.wav"), "deep/wavs22k/a.wav");
  EXPECT_EQ(tree->resolve("deep/up/wavs/self/a.wav"), "deep/wavs22k/a.wav");
  EXPECT_TRUE(tree->has_folder("wavs"));
  EXPECT_FALSE(tree->has_folder("wavs/b"));
}

TEST(DataTree, DataItselfMayBeALink) {
  MemoryEnv env;
  env.add_file("/disk/corpus/a.wav", "");
  env.add_link("/disk/corpus/same.wav", "/disk/corpus/a.wav");
  env.add_link("/data", "/disk/corpus");
  const auto tree = scan_data(env, {"/data"});
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(paths_of(*tree), (std::vector<std::string>{"a.wav", "same.wav"}));
}

TEST(DataTree, AFolderThatCannotBeListedCostsOnlyItself) {
  MemoryEnv env;
  env.add_file("/data/a.wav", "");
  env.add_file("/data/closed/b.wav", "");
  env.set_hook([](EnvOperation& operation) {
    const bool fails = operation.call == EnvCall::kList && operation.path == "/data/closed";
    return fails ? Status(StatusCode::kResource, "Permission denied") : Status();
  });
  const auto tree = scan_data(env, {"/data"});
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(paths_of(*tree), std::vector<std::string>{"a.wav"});
  ASSERT_EQ(tree->refusals.size(), 1U);
  EXPECT_EQ(tree->refusals[0].kind, RejectClass::kEnvironment);
}

TEST(DataTree, DataMustBeAFolder) {
  MemoryEnv env;
  env.add_file("/data.wav", "");
  EXPECT_EQ(scan_data(env, {"/gone"}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(scan_data(env, {"/data.wav"}).status().code(), StatusCode::kInvalidArgument);
}

TEST(DataTree, WhatMacOsLeavesBesideSoundIsRefusedByName) {
  testing::MemoryEnv env;
  env.add_file("/data/._a.wav", "");
  env.add_file("/data/._notes.txt", "");
  env.add_file("/data/.DS_Store", "");
  const auto tree = scan_data(env, {"/data"});
  ASSERT_TRUE(tree.ok());
  ASSERT_EQ(tree->refusals.size(), 1U);
  EXPECT_EQ(tree->refusals[0].path, "._a.wav");
  EXPECT_EQ(tree->refusals[0].kind, RejectClass::kPolicy);
  EXPECT_EQ(tree->hidden_count, 2U);
}

}  // namespace
}  // namespace xtts::corpus
