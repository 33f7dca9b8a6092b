// Whole builds on four threads, in seconds also under the thread sanitizer: run, cancelled from
// another thread's place, gone on with, with sources that fail beside those that do not.
#include <gtest/gtest.h>

#include <thread>

#include "build_support.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

constexpr std::uint32_t kClips = 40;
constexpr std::uint32_t kThreads = 4;

void add_short_sounds(MemoryEnv& env) {
  for (std::uint32_t i = 0; i < kClips; ++i)
    env.add_file(sound_path(i), tone_wav(150.0 + 20.0 * i, {.seconds = 0.05 + 0.002 * i}));
  env.add_file(sound_path(17), "no sound");
}

pipeline::BuildRequest threaded_request() {
  auto request = request_for(recipe_of_small_shards(), kThreads);
  request.run.memory_bytes = std::uint64_t{4} << 30U;  // many clips in flight
  request.max_rejects.share = 1.0;
  return request;
}

const Files& undisturbed() {
  static const Files files = [] {
    MemoryEnv env;
    add_short_sounds(env);
    must_build(env, threaded_request());
    return files_below(env);
  }();
  return files;
}

TEST(Threads, BuildTheSameAsOneThread) {
  MemoryEnv env;
  add_short_sounds(env);
  auto request = threaded_request();
  request.run.thread_count = 1;
  must_build(env, request);
  EXPECT_EQ(difference(undisturbed(), files_below(env)), "");
}

TEST(Threads, StopWhereverTheyAreAndGoOn) {
  for (const std::uint64_t cancel_at : {1U, 13U, 25U}) {
    MemoryEnv env;
    add_short_sounds(env);
    TestObserver observer;
    observer.cancel_at = cancel_at;
    EXPECT_EQ(pipeline::build(env, threaded_request(), observer).status().code(),
              StatusCode::kCancelled);
    must_build(env, threaded_request());
    EXPECT_EQ(difference(undisturbed(), files_below(env)), "") << cancel_at;
  }
}

// As a signal handler does: the thread that asks is none of the build's.
TEST(Threads, StopWhenAnotherThreadAsks) {
  class AskedFromOutside final : public TestObserver {
   public:
    ~AskedFromOutside() override {
      if (asker_.joinable()) asker_.join();
    }
    void progress(const pipeline::BuildProgress& progress) override {
      if (progress.done_count == 9 && !asker_.joinable())
        asker_ = std::thread([this] { cancelled_ = true; });
    }
    [[nodiscard]] bool cancelled() const override { return cancelled_; }

   private:
    std::thread asker_;
    std::atomic<bool> cancelled_ = false;
  };

  MemoryEnv env;
  add_short_sounds(env);
  AskedFromOutside observer;
  const auto stopped = pipeline::build(env, threaded_request(), observer);
  if (!stopped) {  // it may have come too late
    EXPECT_EQ(stopped.status().code(), StatusCode::kCancelled);
  }
  must_build(env, threaded_request());
  EXPECT_EQ(difference(undisturbed(), files_below(env)), "");
}

TEST(Threads, EndTogetherWhenTheDiskIsFull) {
  MemoryEnv env;
  add_short_sounds(env);
  std::atomic<int> appends_left = 6;
  env.set_hook([&](EnvOperation& operation) {
    return operation.call == EnvCall::kAppend && --appends_left == 0
               ? Status(StatusCode::kResource, "No space left on device")
               : Status();
  });
  EXPECT_EQ(run_build(env, threaded_request()).status().code(), StatusCode::kResource);
  env.set_hook({});
  must_build(env, threaded_request());
  EXPECT_EQ(difference(undisturbed(), files_below(env)), "");
}

}  // namespace
}  // namespace xtts::testing
