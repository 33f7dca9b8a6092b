// Slips of the keyboard: nothing is built, and nothing of somebody's files is touched.
#include <gtest/gtest.h>

#include "build_support.hpp"

namespace xtts::testing {
namespace {

Status refused(MemoryEnv& env, const std::string& data, const std::string& cache) {
  const Files before = files_below(env, "");
  auto request = request_for(recipe_of_small_shards());
  request.data.path = data;
  request.options.cache = cache;
  const auto report = run_build(env, request);
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(difference(before, files_below(env, "")), "");
  // --overwrite is no leave to fill somebody's folder either.
  request.options.overwrite = true;
  EXPECT_EQ(run_build(env, request).status().code(), report.status().code());
  EXPECT_EQ(difference(before, files_below(env, "")), "");
  return report.status();
}

TEST(WrongFolders, DataIsMissing) {
  MemoryEnv env;
  const Status status = refused(env, "/nowhere", kCache);
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("/nowhere"), std::string::npos);
  EXPECT_FALSE(env.exists(kCache)) << "not even the folder is made";
}

// A build that is refused before it makes anything removes the folder that it made, and no other.
TEST(WrongFolders, OfARefusedBuildNoneIsLeft) {
  for (const bool was_there : {false, true}) {
    MemoryEnv env;
    add_listed_sounds(env, 3);
    if (was_there) env.add_folder(kCache);
    const auto report = run_build(env, request_for(recipe_of_small_shards({"max_tokens=1"})));
    EXPECT_EQ(report.status().code(), StatusCode::kTooManyRejects) << report.status().message();
    EXPECT_EQ(env.exists(kCache), was_there);
    EXPECT_EQ(difference({}, files_below(env)), "");
  }
}

TEST(WrongFolders, DataIsAFile) {
  MemoryEnv env;
  env.add_file(kData, sound(1));
  EXPECT_EQ(refused(env, kData, kCache).code(), StatusCode::kInvalidArgument);
}

TEST(WrongFolders, DataIsTheCache) {
  MemoryEnv env;
  add_sounds(env, 2);
  env.add_link("/link", kData);
  EXPECT_EQ(refused(env, kData, kData).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused(env, kData, "/link").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused(env, kData, kData + "/.").code(), StatusCode::kInvalidArgument);
}

TEST(WrongFolders, CacheIsSomebodysFolder) {
  MemoryEnv env;
  add_sounds(env, 2);
  env.add_file("/thesis/chapter-1.tex", "Once upon a time");
  const Status status = refused(env, kData, "/thesis");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("/thesis"), std::string::npos);
}

TEST(WrongFolders, CacheIsAFile) {
  MemoryEnv env;
  add_sounds(env, 2);
  env.add_file("/thesis.tex", "Once upon a time");
  EXPECT_EQ(refused(env, kData, "/thesis.tex").code(), StatusCode::kInvalidArgument);
}

TEST(WrongFolders, DataHoldsNoSound) {
  MemoryEnv env;
  env.add_file(kData + "/notes.txt", "nothing to hear");
  auto request = request_for(recipe_of_small_shards());
  EXPECT_FALSE(run_build(env, request).ok());
  EXPECT_FALSE(env.exists(kCache + "/manifest.json"));
}

TEST(WrongFolders, DataIsOfAnotherCorpus) {
  MemoryEnv env;
  add_sounds(env, 3);
  must_build(env, request_for(recipe_of_small_shards()));
  const Files before = published_files(env);
  env.add_file("/other/another.wav", sound(9));
  auto request = request_for(recipe_of_small_shards());
  request.data.path = "/other";
  const auto report = run_build(env, request);
  EXPECT_EQ(report.status().code(), StatusCode::kMismatch);
  EXPECT_EQ(difference(before, published_files(env)), "");
  request.options.overwrite = true;
  EXPECT_EQ(must_build(env, request).record_count, 1U);
}

TEST(RightFolders, AnEmptyOneANewOneAndOneInsideData) {
  MemoryEnv env;
  add_sounds(env, 2);
  env.add_folder("/empty");
  env.add_folder("/disk/lost+found");
  for (const char* cache : {"/empty", "/disk", "/new/deep/down", "/data/cache"}) {
    auto request = request_for(recipe_of_small_shards());
    request.options.cache = cache;
    EXPECT_EQ(must_build(env, request).record_count, 2U) << cache;
    EXPECT_TRUE(must_build(env, request).unchanged) << cache;
  }
}

// A dry run looks, tells and leaves no trace.
TEST(DryRun, TellsWhatWouldBeDone) {
  MemoryEnv env;
  add_listed_sounds(env, 4);
  auto request = request_for(recipe_of_small_shards());
  request.options.dry_run = true;
  TestObserver observer;
  ASSERT_TRUE(pipeline::build(env, request, observer).ok());
  ASSERT_TRUE(observer.preview());
  EXPECT_EQ(observer.preview()->clip_count, 4U);
  EXPECT_EQ(observer.preview()->to_compute_count, 4U);
  EXPECT_EQ(observer.preview()->layout, "ljspeech");
  EXPECT_FALSE(env.exists(kCache));
}

TEST(DryRun, TellsThatNothingIsToBeDone) {
  MemoryEnv env;
  add_listed_sounds(env, 4);
  auto request = request_for(recipe_of_small_shards());
  (void)must_build(env, request);
  request.options.dry_run = true;
  TestObserver observer;
  const auto report = pipeline::build(env, request, observer);
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->unchanged);
  ASSERT_TRUE(observer.preview());
  EXPECT_EQ(observer.preview()->clip_count, 4U);
  EXPECT_EQ(observer.preview()->to_compute_count, 0U);
  EXPECT_EQ(observer.preview()->reused_count, 4U);
}

TEST(DryRun, CountsTheClipsOfAPublishedPart) {
  MemoryEnv env;
  add_listed_sounds(env, 16);
  auto request = request_for(recipe_of_small_shards());
  request.partition = pipeline::PartitionChoice{.index = 1, .count = 2};
  const std::uint64_t part = must_build(env, request).clip_count;
  ASSERT_EQ(part, 8U);
  request.options.dry_run = true;
  TestObserver observer;
  ASSERT_TRUE(pipeline::build(env, request, observer).ok());
  ASSERT_TRUE(observer.preview());
  EXPECT_EQ(observer.preview()->clip_count, part);
  EXPECT_EQ(observer.preview()->reused_count, part);
}

}  // namespace
}  // namespace xtts::testing
