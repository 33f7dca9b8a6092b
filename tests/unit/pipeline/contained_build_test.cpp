// Builds whose decoder works in a process of its own: the same cache, and a codec that crashes
// costs its clip alone. The worker of the tests does what the first word of a source says.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <utility>

#include "build_support.hpp"
#include "decode_worker/contained_decoder.hpp"
#include "formats/rules.hpp"
#include "report/reasons.hpp"

namespace xtts::testing {
namespace {

constexpr std::uint32_t kClips = 20;

pipeline::BuildRequest contained_request() {
  auto request = request_for(recipe_of_small_shards());
  request.run.make_decoder = decode_worker::contained_in(XTTS_TEST_WORKER);
  request.max_rejects.share = 1.0;
  return request;
}

TEST(ContainedBuild, IsTheSameInEveryByte) {
  MemoryEnv plain, contained;
  for (MemoryEnv* env : {&plain, &contained}) {
    add_sounds(*env, kClips);
    env->add_file(sound_path(3), "no sound");
    env->add_file(sound_path(7), "");
  }
  auto request = contained_request();
  must_build(contained, request);
  request.run.make_decoder = in_this_process();
  must_build(plain, request);
  EXPECT_EQ(difference(published_files(plain), published_files(contained)), "");
}

TEST(ContainedBuild, ALimitThatASourcePassesIsARuleWithItsNumbers) {
  MemoryEnv env;
  add_sounds(env, kClips);
  env.add_file(sound_path(3), "spin");
  env.add_file(sound_path(4), "sleep");
  auto request = contained_request();
  request.run.make_decoder = [](std::function<bool()> cancelled) {
    decode_worker::ContainedOptions options;
    options.command = {XTTS_TEST_WORKER};
    options.cpu_limit.base = std::chrono::milliseconds(500);
    options.idle_time_max = std::chrono::milliseconds(1200);
    options.cancelled = std::move(cancelled);
    return decode_worker::make_contained_decoder(std::move(options));
  };
  const auto report = must_build(env, request);
  ASSERT_EQ(report.rejects.size(), 2U);
  const formats::Reject& slow = report.rejects[0];
  EXPECT_EQ(slow.kind, formats::RejectClass::kCrash);
  EXPECT_EQ(slow.reason.rule, formats::Rule::kDecoderTooSlow);
  EXPECT_EQ(slow.reason.numbers[1], 4.0);
  EXPECT_EQ(report::words_of(slow),
            "its decoder used more than 0.51 s of processor time for 4 B: given up");
  const formats::Reject& still = report.rejects[1];
  EXPECT_EQ(still.kind, formats::RejectClass::kEnvironment);
  EXPECT_EQ(still.reason.rule, formats::Rule::kDecoderStoodStill);
  EXPECT_EQ(report::words_of(still),
            "its decoder stood still for 1.2 s: tried again by the next build");
}

TEST(ContainedBuild, ACrashCostsItsClipAndIsNotMetAgain) {
  MemoryEnv env;
  add_sounds(env, kClips);
  env.add_file(sound_path(3), "exit");
  env.add_file(sound_path(4), "abort");
  const auto report = must_build(env, contained_request());
  EXPECT_EQ(report.record_count, kClips - 2);
  ASSERT_EQ(report.rejects.size(), 2U);
  for (const auto& reject : report.rejects) {
    EXPECT_EQ(reject.kind, formats::RejectClass::kCrash);
    EXPECT_EQ(reject.reason.rule, formats::Rule::kDecoderCrashed);
    EXPECT_TRUE(report::words_of(reject).starts_with("its decoder crashed ("));
  }
  EXPECT_EQ(damage_in(env), "");

  env.add_file(sound_path(kClips), sound(kClips));
  OpenedSources opened(env);
  EXPECT_EQ(must_build(env, contained_request()).record_count, kClips - 1);
  EXPECT_EQ(opened.take(), std::set<std::string>{clip_name(kClips) + ".wav"});

  auto again = contained_request();
  again.options.retry_rejects = true;
  env.add_file(sound_path(3), sound(3));
  EXPECT_EQ(must_build(env, again).record_count, kClips);
}

TEST(ContainedBuild, ADecoderThatIsKilledFromOutsideIsTriedAgain) {
  MemoryEnv env;
  add_sounds(env, kClips);
  env.add_file(sound_path(3), "kill");
  const auto report = must_build(env, contained_request());
  ASSERT_EQ(report.rejects.size(), 1U);
  EXPECT_EQ(report.rejects[0].kind, formats::RejectClass::kEnvironment);
  OpenedSources opened(env);
  must_build(env, contained_request());
  EXPECT_EQ(opened.take(), std::set<std::string>{clip_name(3) + ".wav"});
}

TEST(ContainedBuild, AWorkerThatCannotBeStartedEndsTheRun) {
  MemoryEnv env;
  add_sounds(env, kClips);
  auto request = contained_request();
  request.run.make_decoder = decode_worker::contained_in("/nowhere/worker");
  const auto report = run_build(env, request);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find("/nowhere/worker"), std::string::npos);
}

TEST(MaxSourceSeconds, IsARuleThatSaysHowToKeepTheClip) {
  for (const bool is_contained : {false, true}) {
    MemoryEnv env;
    add_sounds(env, kClips);
    auto request = contained_request();
    if (!is_contained) request.run.make_decoder = in_this_process();
    request.recipe.corpus.max_source_seconds = 0.45;
    const auto report = must_build(env, request);
    EXPECT_EQ(report.rejects.size(), 8U);  // of 0.5 and 0.6 s
    for (const auto& reject : report.rejects) {
      EXPECT_EQ(reject.kind, formats::RejectClass::kPolicy);
      EXPECT_EQ(report::words_of(reject),
                "longer than 0.45 s: a higher corpus.max_source_seconds keeps it");
    }
    request.recipe.corpus.max_source_seconds = 7200.0;
    EXPECT_EQ(must_build(env, request).record_count, kClips);
  }
}

}  // namespace
}  // namespace xtts::testing
