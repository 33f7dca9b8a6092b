#include "pipeline/disk_read_ahead.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "support/memory_env.hpp"

namespace xtts::pipeline {
namespace {

using Names = std::vector<std::string>;

// Clips whose order is the opposite of that of their files.
class ReadAheadTest : public ::testing::Test {
 protected:
  void add_clips(std::size_t count) {
    plan_.corpus.folders = {"/data"};
    for (std::size_t i = 0; i < count; ++i) {
      corpus::Clip clip;
      clip.id = std::to_string(i);
      clip.source = std::string(1, static_cast<char>('z' - i)) + ".wav";
      clip.source_bytes = kFileBytes;
      env_.add_file("/data/" + clip.source, std::string(kFileBytes, 'x'));
      plan_.corpus.clips.push_back(clip);
      plan_.to_compute.push_back(static_cast<std::uint32_t>(i));
    }
    env_.set_hook([this](testing::EnvOperation& operation) {
      if (operation.call != testing::EnvCall::kOpenForRead) return Status();
      const std::lock_guard lock(mutex_);
      opened_.push_back(operation.path.substr(6, 1));
      return Status();
    });
  }
  Names opened() {
    const std::lock_guard lock(mutex_);
    return opened_;
  }

  static constexpr std::uint64_t kFileBytes = 1000;

  const std::function<bool()> never_ = [] { return false; };
  testing::MemoryEnv env_;
  BuildPlan plan_;
  std::mutex mutex_;
  Names opened_;
};

TEST_F(ReadAheadTest, ReadsAWindowInTheOrderOfPathsBeforeItsFirstClipIsWorkedOn) {
  add_clips(6);
  ReadAhead ahead(env_, plan_, 0, never_, 3 * kFileBytes);
  ahead.wait_for(0);
  const Names first = opened();
  ASSERT_GE(first.size(), 3U);
  EXPECT_EQ(Names(first.begin(), first.begin() + 3), (Names{"x", "y", "z"}));
  ahead.wait_for(5);
  EXPECT_EQ(opened(), (Names{"x", "y", "z", "u", "v", "w"}));
}

TEST_F(ReadAheadTest, IsOneWindowAheadAndNoMore) {
  add_clips(20);
  {
    ReadAhead ahead(env_, plan_, 0, never_, 2 * kFileBytes);
    ahead.wait_for(3);  // of the second window: the third may be read, not the fourth
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_LE(opened().size(), 6U);
  }
  EXPECT_LE(opened().size(), 6U);  // nor at its end
}

TEST_F(ReadAheadTest, BeginsWhereAnInterruptedBuildGoesOn) {
  add_clips(6);
  ReadAhead ahead(env_, plan_, 4, never_, 100 * kFileBytes);
  ahead.wait_for(4);
  EXPECT_EQ(opened(), (Names{"u", "v"}));
}

TEST_F(ReadAheadTest, PassesOverWhatCannotBeRead) {
  add_clips(3);
  ASSERT_TRUE(env_.remove_file("/data/y.wav").ok());
  ReadAhead ahead(env_, plan_, 0, never_);
  ahead.wait_for(2);
}

TEST_F(ReadAheadTest, ReadsASourceOfManySegmentsOnce) {
  add_clips(5);
  for (auto& clip : plan_.corpus.clips) {
    clip.source = "z.wav";
    clip.segment = corpus::Segment{0.0, 1.0};
  }
  ReadAhead ahead(env_, plan_, 0, never_, kFileBytes);
  ahead.wait_for(4);
  EXPECT_EQ(opened(), Names{"z"});
}

TEST_F(ReadAheadTest, ServesManyThreads) {
  add_clips(20);
  ReadAhead ahead(env_, plan_, 0, never_, 2 * kFileBytes);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t place = t; place < 20; place += 4) ahead.wait_for(place);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(opened().size(), 20U);
}

TEST_F(ReadAheadTest, NobodyWaitsOnceItIsCancelled) {
  add_clips(20);
  std::atomic<bool> cancelled = false;
  ReadAhead ahead(
      env_, plan_, 0, [&] { return cancelled.load(); }, 2 * kFileBytes);
  ahead.wait_for(0);
  cancelled = true;
  ahead.wait_for(19);
}

}  // namespace
}  // namespace xtts::pipeline
