// Other tests rely on MemoryEnv, so it has to keep its promises.
#include "support/memory_env.hpp"

#include <gtest/gtest.h>

namespace xtts::testing {
namespace {

Status write(Env& env, const std::string& path, std::string_view text, bool synced) {
  auto file = env.open_for_write(path, WriteMode::kTruncate);
  if (!file.ok()) return file.status();
  if (Status status = (*file)->append(as_bytes(text)); !status.ok()) return status;
  if (synced) return (*file)->sync();
  return {};
}

TEST(MemoryEnv, ForgetsBytesAndNamesThatWereNotSynced) {
  MemoryEnv env;
  env.add_folder("/cache");
  ASSERT_TRUE(write(env, "/cache/named", "a", true).ok());
  ASSERT_TRUE(env.sync_directory("/cache").ok());
  ASSERT_TRUE(write(env, "/cache/unnamed", "b", true).ok());
  ASSERT_TRUE(write(env, "/cache/named", "changed", false).ok());

  env.forget_unsynced();
  EXPECT_EQ(env.contents("/cache/named"), "a");
  EXPECT_FALSE(env.exists("/cache/unnamed"));
}

TEST(MemoryEnv, ReplacesAFileWholeOrNotAtAll) {
  MemoryEnv env;
  env.add_file("/cache/manifest", "old");
  ASSERT_TRUE(write(env, "/cache/manifest.tmp", "new", true).ok());
  ASSERT_TRUE(env.rename("/cache/manifest.tmp", "/cache/manifest").ok());
  EXPECT_EQ(env.contents("/cache/manifest"), "new");
  env.forget_unsynced();
  EXPECT_EQ(env.contents("/cache/manifest"), "old") << "the folder was never synced";

  ASSERT_TRUE(replace_file(env, "/cache/manifest", as_bytes("new")).ok());
  env.forget_unsynced();
  EXPECT_EQ(env.contents("/cache/manifest"), "new");
  EXPECT_EQ(env.all_files(), std::vector<std::string>{"/cache/manifest"});
}

TEST(MemoryEnv, WritesAfterThePowerCutReachNothing) {
  MemoryEnv env;
  env.add_file("/a", "before");
  const auto file = env.open_for_write("/a", WriteMode::kAppend);
  ASSERT_TRUE(file.ok());
  env.forget_unsynced();
  ASSERT_TRUE((*file)->append(as_bytes("after")).ok());
  EXPECT_EQ(env.contents("/a"), "before");
}

TEST(MemoryEnv, FollowsLinksAndRefusesLoops) {
  MemoryEnv env;
  env.add_file("/data/real/a.wav", "sound");
  env.add_link("/data/link", "real");
  env.add_link("/data/real/up", "..");
  env.add_link("/data/self", "self");
  EXPECT_EQ(env.contents("/data/link/up/real/a.wav"), "sound");
  EXPECT_EQ(*env.real_path("/data/link/up/link/a.wav"), "/data/real/a.wav");
  EXPECT_EQ(env.stat("/data/self").status().code(), StatusCode::kResource);
  const auto entries = env.list("/data");
  ASSERT_EQ(entries->size(), 3U);
  EXPECT_EQ((*entries)[0].kind, FileKind::kDirectory);
  EXPECT_TRUE((*entries)[0].is_symlink);
  EXPECT_EQ((*entries)[2].kind, FileKind::kOther);
}

TEST(MemoryEnv, AFileMayHaveTwoNames) {
  MemoryEnv env;
  env.add_file("/a/file", "bytes");
  env.add_folder("/b");
  ASSERT_TRUE(env.link("/a/file", "/b/link").ok());
  EXPECT_EQ(env.link("/a/file", "/b/link").code(), StatusCode::kResource) << "it is there";
  EXPECT_EQ(env.link("/a/none", "/b/none").code(), StatusCode::kNotFound);
  ASSERT_TRUE(env.remove_file("/a/file").ok());
  EXPECT_EQ(env.contents("/b/link"), "bytes");
  env.forget_unsynced();
  EXPECT_FALSE(env.exists("/b/link")) << "its folder was not synced";
}

TEST(MemoryEnv, TheHookFailsAnyCallAndTearsWrites) {
  MemoryEnv env;
  env.set_hook([](EnvOperation& operation) {
    if (operation.call != EnvCall::kAppend) return Status();
    operation.torn_bytes = 2;
    return Status(StatusCode::kResource, "disk full");
  });
  EXPECT_EQ(write(env, "/a", "12345", false).code(), StatusCode::kResource);
  EXPECT_EQ(env.contents("/a"), "12");
}

TEST(MemoryEnv, AnExclusiveLockKeepsOthersOutUntilItGoes) {
  MemoryEnv env;
  {
    const auto held = env.lock("/lock", LockKind::kExclusive);
    ASSERT_TRUE(held.ok());
    EXPECT_EQ(env.lock("/lock", LockKind::kShared).status().code(), StatusCode::kBusy);
  }
  const auto first = env.lock("/lock", LockKind::kShared);
  EXPECT_TRUE(env.lock("/lock", LockKind::kShared).ok());
  EXPECT_EQ(env.lock("/lock", LockKind::kExclusive).status().code(), StatusCode::kBusy);
}

TEST(MemoryEnv, ShufflesListingsOnRequest) {
  MemoryEnv env;
  for (int i = 0; i < 100; ++i) env.add_file("/f/" + std::to_string(i), "");
  const auto sorted = env.list("/f");
  env.shuffle_listings(7);
  const auto shuffled = env.list("/f");
  ASSERT_EQ(shuffled->size(), 100U);
  bool differs = false;
  for (std::size_t i = 0; i < 100; ++i) differs |= (*sorted)[i].name != (*shuffled)[i].name;
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace xtts::testing
