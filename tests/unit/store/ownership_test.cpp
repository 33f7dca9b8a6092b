// Files that are not ours are neither changed nor removed: a .build/ of another program, somebody's
// folder given as CACHE, links in a cache that came from elsewhere.
#include "store/ownership.hpp"

#include <gtest/gtest.h>

#include <map>

#include "store/cache_folder.hpp"
#include "support/memory_env.hpp"

namespace xtts::testing {
namespace {

constexpr const char* kOwnedCache = "/cache";

class Ownership : public ::testing::Test {
 protected:
  // Opens the folder and finishes; nothing of what was there before may be gone or changed.
  Status use() {
    std::map<std::string, std::string> before;
    for (const std::string& path : env_.all_files()) before[path] = env_.contents(path);
    auto folder = store::CacheFolder::open(env_, kOwnedCache);
    const Status status = folder.ok() ? (*folder)->finish() : folder.status();
    for (const auto& [path, text] : before) EXPECT_EQ(env_.contents(path), text) << path;
    return status;
  }
  void expect_refused(const Status& status, StatusCode code, std::string_view named) {
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_NE(status.message().find(named), std::string::npos) << status.message();
  }

  MemoryEnv env_;
};

TEST_F(Ownership, BuildFolderOfAnotherProgramIsRefused) {
  env_.add_file("/cache/.build/workspace-state.json", "{}");
  expect_refused(use(), StatusCode::kInvalidArgument, "/cache/.build is not of xtts-precompute");
  expect_refused(store::check_may_be_cache(env_, kOwnedCache), StatusCode::kInvalidArgument,
                 "workspace-state.json");
}

TEST_F(Ownership, LockOfAnotherProgramIsRefused) {
  env_.add_file("/cache/.build/lock", "12345");
  expect_refused(use(), StatusCode::kInvalidArgument, "/cache/.build is not of xtts-precompute");
}

TEST_F(Ownership, WhatABuilderLeavesIsOurs) {
  // Killed before its mark, and at its end between mark and lock.
  env_.add_folder("/cache/.build");
  EXPECT_TRUE(store::CacheFolder::open(env_, kOwnedCache).ok());
  env_.add_file("/two/.build/lock", "host here, process 7\n");
  EXPECT_TRUE(store::CacheFolder::open(env_, "/two").ok());
  EXPECT_TRUE(env_.exists("/two/.build/xtts-precompute"));
  // Killed in between: its mark is there.
  EXPECT_TRUE(store::CacheFolder::open(env_, "/two").ok());
}

TEST_F(Ownership, MarkSurvivesAPowerCutAsLongAsAnythingElseDoes) {
  {
    const auto folder = store::CacheFolder::open(env_, kOwnedCache);
    ASSERT_TRUE(folder.ok());
    env_.forget_unsynced();
  }
  EXPECT_TRUE(env_.exists("/cache/.build/xtts-precompute"));
}

TEST_F(Ownership, FinishLeavesFilesThatAreNotOurs) {
  {
    const auto folder = store::CacheFolder::open(env_, kOwnedCache);
    ASSERT_TRUE(folder.ok());
    env_.add_file("/cache/.build/notes.txt", "somebody's");
    env_.add_file("/cache/.build/mel-0.tmp", "half a shard");
    EXPECT_TRUE((*folder)->finish().ok());
  }
  EXPECT_EQ(env_.all_files(), std::vector<std::string>{"/cache/.build/notes.txt"});
}

TEST_F(Ownership, LinksInACacheAreNotFollowed) {
  env_.add_file("/home/letter", "dear");
  env_.add_file("/home/journal", "mine");
  for (const char* link :
       {"/cache/.build", "/cache/.build/lock", "/cache/.build/xtts-precompute"}) {
    MemoryEnv& env = env_;
    env.add_folder("/cache/.build");
    env.add_link(link, std::string(link) == "/cache/.build" ? "/home" : "/home/letter");
    expect_refused(use(), StatusCode::kCorrupt, link);
    ASSERT_TRUE(env.remove_file(link).ok());
  }
}

TEST_F(Ownership, TemporariesAreNewFiles) {
  env_.add_file("/home/letter", "dear");
  const auto folder = store::CacheFolder::open(env_, kOwnedCache);
  ASSERT_TRUE(folder.ok());
  env_.add_link("/cache/.build/index.tmp", "/home/letter");
  const auto file = (*folder)->begin_file("index");
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_TRUE((*file)->append(as_bytes("ours")).ok());
  EXPECT_EQ(env_.contents("/home/letter"), "dear");
  EXPECT_EQ(env_.contents("/cache/.build/index.tmp"), "ours");
}

TEST_F(Ownership, CacheIsKnownByManifestIndexOrMark) {
  const auto check = [&] { return store::check_may_be_cache(env_, kOwnedCache); };
  EXPECT_TRUE(check().ok()) << "not there";
  env_.add_folder("/cache/lost+found");
  EXPECT_TRUE(check().ok()) << "empty";
  env_.add_file("/cache/thesis.tex", "years of work");
  expect_refused(check(), StatusCode::kInvalidArgument, "holds other files");
  env_.add_file("/cache/manifest.json", R"({"name": "a web app"})");
  expect_refused(check(), StatusCode::kInvalidArgument, "holds other files");
  env_.add_folder("/cache/.build");
  expect_refused(check(), StatusCode::kInvalidArgument, "holds other files");
  env_.add_file("/cache/.build/xtts-precompute", "");
  EXPECT_TRUE(check().ok()) << "an unfinished build";
  ASSERT_TRUE(env_.remove_file("/cache/.build/xtts-precompute").ok());
  env_.add_file("/cache/index-0123456789abcdef0123456789abcdef.bin", "");
  EXPECT_TRUE(check().ok()) << "a cache whose manifest is damaged";
  ASSERT_TRUE(env_.remove_file("/cache/index-0123456789abcdef0123456789abcdef.bin").ok());
  env_.add_file("/cache/manifest.json", R"({"format":"xtts-cache"})");
  EXPECT_TRUE(check().ok()) << "a cache";
  env_.add_link("/cache/manifest.json", "/elsewhere");
  expect_refused(check(), StatusCode::kCorrupt, "/cache/manifest.json");
}

}  // namespace
}  // namespace xtts::testing
