// When clips fail: one costs itself alone, too many cost the publication and not the work.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>

#include "build_support.hpp"

namespace xtts::testing {
namespace {

constexpr std::uint32_t kClips = 20;

pipeline::BuildRequest small_request() {
  return request_for(recipe_of_small_shards());
}

TEST(RejectLimit, StopsThePublicationAndKeepsTheWork) {
  MemoryEnv env;
  add_sounds(env, kClips);
  env.add_file(sound_path(2), "no sound");
  env.add_file(sound_path(9), "no sound");
  auto request = small_request();
  request.max_rejects.count = 1;
  const auto refused = run_build(env, request);
  ASSERT_EQ(refused.status().code(), StatusCode::kTooManyRejects);
  EXPECT_NE(refused.status().message().find("--max-rejects 2"), std::string::npos)
      << refused.status().message();
  EXPECT_NE(refused.status().message().find(clip_name(2)), std::string::npos);
  EXPECT_FALSE(env.exists(kCache + "/manifest.json"));

  request.max_rejects.count = 2;
  OpenedSources opened(env);
  EXPECT_EQ(must_build(env, request).record_count, kClips - 2);
  EXPECT_EQ(opened.take(), std::set<std::string>());
  EXPECT_EQ(damage_in(env), "");
}

// Five of a hundred by default.
TEST(RejectLimit, IsAShareOfTheClipsUnlessANumberIsGiven) {
  MemoryEnv env;
  add_sounds(env, kClips);
  env.add_file(sound_path(2), "no sound");
  auto request = small_request();
  must_build(env, request);  // 1 of 20
  env.add_file(sound_path(3), "no sound");
  EXPECT_EQ(run_build(env, request).status().code(), StatusCode::kTooManyRejects);
  EXPECT_EQ(open_cache(env)->manifest().generation, 1U);
  EXPECT_EQ(damage_in(env), "");
}

TEST(RejectLimit, DoesNotCountWhatARuleLeavesOut) {
  MemoryEnv env;
  add_listed_sounds(env, kClips);
  auto request = request_for(recipe_with({"features.max_frames=30"}));
  request.max_rejects.count = 0;
  const auto report = must_build(env, request);
  EXPECT_GT(report.rejects.size(), kClips / 4);
  EXPECT_EQ(report.record_count, kClips - report.rejects.size());
}

TEST(RejectLimit, NothingLeftToStoreIsNoCache) {
  MemoryEnv env;
  for (std::uint32_t i = 0; i < 3; ++i) env.add_file(sound_path(i), "no sound");
  auto request = small_request();
  request.max_rejects.share = 1.0;
  const auto refused = run_build(env, request);
  ASSERT_EQ(refused.status().code(), StatusCode::kTooManyRejects);
  EXPECT_NE(refused.status().message().find("no clip is left"), std::string::npos);
  EXPECT_FALSE(env.exists(kCache + "/manifest.json"));
}

// A source that the disk does not give up is the environment's fault: left out, and tried again.
class FailingSource : public ::testing::TestWithParam<EnvCall> {};

TEST_P(FailingSource, CostsItsClipAloneAndIsTriedAgain) {
  MemoryEnv env;
  add_sounds(env, kClips);
  env.set_hook([](EnvOperation& operation) {
    const bool fails = operation.call == GetParam() && operation.path == sound_path(5);
    return fails ? Status(StatusCode::kResource, "Input/output error") : Status();
  });
  const auto report = must_build(env, small_request());
  EXPECT_EQ(report.record_count, kClips - 1);
  ASSERT_EQ(report.rejects.size(), 1U);
  EXPECT_EQ(report.rejects[0].kind, formats::RejectClass::kEnvironment);
  EXPECT_EQ(report.rejects[0].id, clip_name(5));

  // It still fails: no other generation of the same.
  const Files before = published_files(env);
  EXPECT_TRUE(must_build(env, small_request()).unchanged);
  EXPECT_EQ(difference(before, published_files(env)), "");

  OpenedSources opened(env);  // and the hook is gone
  const auto again = must_build(env, small_request());
  EXPECT_EQ(opened.take(), std::set<std::string>{clip_name(5) + ".wav"});
  EXPECT_EQ(again.record_count, kClips);
  EXPECT_TRUE(again.rejects.empty());
  EXPECT_EQ(damage_in(env), "");
}

INSTANTIATE_TEST_SUITE_P(Calls, FailingSource,
                         ::testing::Values(EnvCall::kOpenForRead, EnvCall::kRead),
                         [](const auto& call) {
                           return call.param == EnvCall::kRead ? "Read" : "Open";
                         });

// Somebody writes the file whenever we read it.
TEST(ChangingSource, IsLeftOutOnceItChangedTwice) {
  MemoryEnv env;
  add_sounds(env, kClips);
  std::atomic<std::uint32_t> changes_left = 1;
  env.set_hook([&](EnvOperation& operation) {
    if (operation.call == EnvCall::kRead && operation.path == sound_path(5) && changes_left > 0) {
      --changes_left;
      env.add_file(sound_path(5), sound(5));
    }
    return Status();
  });
  EXPECT_EQ(must_build(env, small_request()).record_count, kClips) << "once is forgiven";

  changes_left = 1000;
  auto request = small_request();
  request.options.overwrite = true;
  const auto report = must_build(env, request);
  ASSERT_EQ(report.rejects.size(), 1U);
  EXPECT_EQ(report.rejects[0].kind, formats::RejectClass::kEnvironment);
  EXPECT_NE(report.rejects[0].reason.detail.find("changed"), std::string::npos);
}

TEST(Locked, ASecondBuilderIsToldWhoHoldsTheCache) {
  MemoryEnv env;
  add_sounds(env, 3);

  // Builds again from within the first build.
  class Nested final : public TestObserver {
   public:
    explicit Nested(MemoryEnv& memory) : env_(memory) {}
    void before(const pipeline::BuildPreview&) override {
      second = run_build(env_, small_request()).status();
    }
    Status second;

   private:
    MemoryEnv& env_;
  };

  Nested observer(env);
  const auto first = pipeline::build(env, small_request(), observer);
  EXPECT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(observer.second.code(), StatusCode::kBusy);
  EXPECT_NE(observer.second.message().find("process " + std::to_string(::getpid())),
            std::string::npos)
      << observer.second.message();
  EXPECT_TRUE(must_build(env, small_request()).unchanged) << "and the lock is given back";
}

}  // namespace
}  // namespace xtts::testing
