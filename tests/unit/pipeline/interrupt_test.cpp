// A build that was stopped goes on with the same command and ends in the same bytes as one that
// nobody stopped. (Crashes and failing disks: tests/fault.)
#include <gtest/gtest.h>

#include "build_support.hpp"

namespace xtts::testing {
namespace {

constexpr std::uint32_t kClips = 20;  // shards of 8, 8 and 4

const Files& undisturbed() {
  static const Files files = [] {
    MemoryEnv env;
    add_sounds(env, kClips);
    must_build(env, request_for(recipe_of_small_shards()));
    return files_below(env);
  }();
  return files;
}

TEST(Cancelled, AfterAnyClipItGoesOnToTheSameBytes) {
  for (const std::uint64_t cancel_at : {1U, 7U, 8U, 9U, 16U, 19U, 20U}) {
    SCOPED_TRACE("cancelled after " + std::to_string(cancel_at));
    MemoryEnv env;
    add_sounds(env, kClips);
    const auto request = request_for(recipe_of_small_shards(), 3);
    TestObserver observer;
    observer.cancel_at = cancel_at;
    const auto stopped = pipeline::build(env, request, observer);
    ASSERT_EQ(stopped.status().code(), StatusCode::kCancelled) << stopped.status().message();
    EXPECT_FALSE(env.exists(kCache + "/manifest.json"));

    TestObserver again;
    const auto report = pipeline::build(env, request, again);
    ASSERT_TRUE(report.ok()) << report.status().message();
    // Whole shards were sealed: of 8 clips, and the last one of 4.
    EXPECT_EQ(again.preview()->sealed_count,
              cancel_at == kClips ? kClips : cancel_at / kClipsPerSmallShard * kClipsPerSmallShard);
    EXPECT_EQ(report->computed_count, kClips);
    EXPECT_EQ(difference(undisturbed(), files_below(env)), "");
  }
}

TEST(Cancelled, AnUpdateOfTextsAloneIsNotPublished) {
  MemoryEnv env;
  add_listed_sounds(env, kClips);
  const auto request = request_for(recipe_of_small_shards());
  must_build(env, request);
  const Files before = files_below(env);
  add_list(env, kClips, {{3, "Mended."}});
  TestObserver observer;
  observer.cancel_at = 0;
  ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(difference(before, files_below(env)), "");
  EXPECT_EQ(must_build(env, request).generation, 2U);
}

TEST(Cancelled, WhatIsSealedIsNotReadAgain) {
  MemoryEnv env;
  add_sounds(env, kClips);
  const auto request = request_for(recipe_of_small_shards());
  TestObserver observer;
  observer.cancel_at = 2 * kClipsPerSmallShard;
  ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  OpenedSources opened(env);
  must_build(env, request);
  const auto paths = opened.take();
  EXPECT_EQ(paths.size(), kClips - 2 * kClipsPerSmallShard);
  EXPECT_FALSE(paths.contains(clip_name(0) + ".wav"));
}

TEST(Cancelled, RejectsOfSealedShardsAreKept) {
  MemoryEnv env;
  add_sounds(env, kClips);
  env.add_file(sound_path(3), "no sound");
  auto request = request_for(recipe_of_small_shards());
  request.max_rejects.count = 1;
  TestObserver observer;
  observer.cancel_at = kClipsPerSmallShard;
  ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  TestObserver again;
  const auto report = pipeline::build(env, request, again);
  ASSERT_TRUE(report.ok()) << report.status().message();
  ASSERT_EQ(report->rejects.size(), 1U);
  EXPECT_EQ(report->rejects[0].id, clip_name(3));
  EXPECT_EQ(again.last().reject_count, 1U);
  EXPECT_EQ(again.last().done_count, kClips);
}

// What was sealed for one list of clips is of no use to another: it goes, and nothing of it stays.
TEST(Cancelled, AnotherCorpusBeginsAnewAndLeavesNothingBehind) {
  MemoryEnv env;
  add_sounds(env, kClips);
  const auto request = request_for(recipe_of_small_shards());
  TestObserver observer;
  observer.cancel_at = 2 * kClipsPerSmallShard;
  ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  env.add_file(sound_path(0), sound(77));
  must_build(env, request);

  auto elsewhere = request;
  elsewhere.cache = "/elsewhere";
  must_build(env, elsewhere);
  EXPECT_EQ(difference(files_below(env, "/elsewhere"), files_below(env)), "");
}

// An update that was begun and is no longer wanted: the new clip is gone again.
TEST(Cancelled, AnUpdateThatIsTakenBackLeavesNothingBehind) {
  MemoryEnv env;
  add_sounds(env, kClips);
  const auto request = request_for(recipe_of_small_shards());
  must_build(env, request);
  const Files before = published_files(env);
  for (std::uint32_t i = kClips; i < kClips + 9; ++i) env.add_file(sound_path(i), sound(i));
  TestObserver observer;
  observer.cancel_at = kClipsPerSmallShard;
  ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  for (std::uint32_t i = kClips; i < kClips + 9; ++i)
    ASSERT_TRUE(env.remove_file(sound_path(i)).ok());
  EXPECT_TRUE(must_build(env, request).unchanged);
  EXPECT_EQ(difference(before, published_files(env)), "");
}

// A shard that was sealed and is damaged since (its header, which is what resuming reads) is made
// again, with all that follow.
TEST(Cancelled, ADamagedSealedShardIsMadeAgain) {
  MemoryEnv env;
  add_sounds(env, kClips);
  const auto request = request_for(recipe_of_small_shards());
  TestObserver observer;
  observer.cancel_at = 2 * kClipsPerSmallShard;
  ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  const Files sealed = files_named(files_below(env), "shards/mel/");
  ASSERT_EQ(sealed.size(), 2U);
  env.add_file(kCache + "/" + sealed.begin()->first, sealed.begin()->second.substr(0, 5000));
  must_build(env, request);
  EXPECT_EQ(
      difference(files_named(undisturbed(), "shards/"), files_named(files_below(env), "shards/")),
      "");
  EXPECT_EQ(damage_in(env), "");
}

}  // namespace
}  // namespace xtts::testing
