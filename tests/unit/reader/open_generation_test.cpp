#include "reader/open_generation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/test_cache.hpp"

namespace xtts::reader {
namespace {

using ::testing::AllOf;
using testing::EnvCall;
using testing::EnvOperation;
using ::testing::HasSubstr;
using testing::make_test_cache;
using testing::MemoryEnv;
using testing::TestCache;

TEST(OpenGeneration, HoldsASharedLockOnItsIndex) {
  MemoryEnv env;
  const TestCache cache = make_test_cache();
  cache.add_to(env, "/cache");
  const std::string index = "/cache/" + cache.index_name;
  {
    auto first = open_generation(env, "/cache");
    auto second = open_generation(env, "/cache");
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(env.lock(index, LockKind::kExclusive).status().code(), StatusCode::kBusy);
  }
  EXPECT_TRUE(env.lock(index, LockKind::kExclusive).ok());
}

TEST(OpenGeneration, ReadsWithoutALockWhereThereAreNone) {
  MemoryEnv env;
  make_test_cache().add_to(env, "/cache");
  env.set_hook([](EnvOperation& operation) {
    return operation.call == EnvCall::kLock ? Status(StatusCode::kResource, "no locks available")
                                            : Status();
  });
  const auto generation = open_generation(env, "/cache");
  ASSERT_TRUE(generation.ok()) << generation.status().message();
  EXPECT_EQ(generation->lock, nullptr);
}

// A builder publishes generation 2 and collects generation 1 just after we have read the manifest
// of generation 1.
TEST(OpenGeneration, TurnsToTheNewGenerationWhenItsOwnIsCollected) {
  MemoryEnv env;
  const TestCache old_cache = make_test_cache();
  const TestCache new_cache = make_test_cache({.clip_count = 9, .generation = 2});
  old_cache.add_to(env, "/cache");
  bool published = false;
  env.set_hook([&](EnvOperation& operation) {
    if (operation.call != EnvCall::kLock || published) return Status();
    published = true;
    new_cache.add_to(env, "/cache");
    return env.remove_file("/cache/" + old_cache.index_name);
  });
  const auto generation = open_generation(env, "/cache");
  ASSERT_TRUE(generation.ok()) << generation.status().message();
  EXPECT_EQ(generation->loaded.manifest.generation, 2);
  EXPECT_EQ(generation->index->clip_count(), 9);
}

// As above, but the collector has not come to the index yet: what we hold may be half gone, so it
// is not taken.
TEST(OpenGeneration, DoesNotTrustALockTakenAfterAPublication) {
  MemoryEnv env;
  const TestCache old_cache = make_test_cache();
  const TestCache new_cache = make_test_cache({.clip_count = 9, .generation = 2});
  old_cache.add_to(env, "/cache");
  bool published = false;
  env.set_hook([&](EnvOperation& operation) {
    if (operation.call == EnvCall::kLock && !std::exchange(published, true))
      new_cache.add_to(env, "/cache");
    return Status();
  });
  const auto generation = open_generation(env, "/cache");
  ASSERT_TRUE(generation.ok());
  EXPECT_EQ(generation->loaded.manifest.generation, 2);
  EXPECT_TRUE(env.lock("/cache/" + old_cache.index_name, LockKind::kExclusive).ok());
}

TEST(OpenGeneration, NamesAnIndexThatIsMissing) {
  MemoryEnv env;
  const TestCache cache = make_test_cache();
  cache.add_to(env, "/cache");
  ASSERT_TRUE(env.remove_file("/cache/" + cache.index_name).ok());
  const Status status = open_generation(env, "/cache").status();
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_THAT(status.message(), HasSubstr(cache.index_name));
}

TEST(OpenGeneration, SaysHowToContinueAnUnpublishedBuild) {
  MemoryEnv env;
  env.add_file("/cache/.build/journal", "");
  const Status status = open_generation(env, "/cache").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("incomplete"), HasSubstr("xtts-precompute build")));
}

TEST(OpenGeneration, TellsAFolderThatIsNoCacheFromNone) {
  MemoryEnv env;
  env.add_file("/music/a.wav", "");
  EXPECT_THAT(open_generation(env, "/music").status().message(), HasSubstr("no manifest.json"));
  EXPECT_THAT(open_generation(env, "/music/a.wav").status().message(), HasSubstr("is a file"));
  EXPECT_THAT(open_generation(env, "/nowhere").status().message(), HasSubstr("there is no cache"));
}

TEST(OpenGeneration, RefusesADamagedManifest) {
  MemoryEnv env;
  TestCache cache = make_test_cache();
  cache.files["manifest.json"][40] = '~';
  cache.add_to(env, "/cache");
  const Status status = open_generation(env, "/cache").status();
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_THAT(status.message(), HasSubstr("/cache/manifest.json"));
}

}  // namespace
}  // namespace xtts::reader
