// SoundsAhead with sounds that cost nothing: what is made before anybody asks, and what is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include "request/sounds_ahead.hpp"

namespace xtts::request {
namespace {

using Sound = Result<std::vector<float>>;

std::vector<std::uint64_t> positions_up_to(std::uint64_t count) {
  std::vector<std::uint64_t> positions(count);
  std::iota(positions.begin(), positions.end(), std::uint64_t{0});
  return positions;
}

// Makes sounds that hold their position, and knows which were made, and in which order.
class Maker {
 public:
  Sound operator()(std::uint64_t position) {
    const std::lock_guard lock(mutex_);
    made_.push_back(position);
    if (std::this_thread::get_id() == caller_) by_caller_.insert(position);
    if (position == failing) return Status(StatusCode::kBadInput, "broken");
    return std::vector<float>(length, static_cast<float>(position));
  }
  [[nodiscard]] std::vector<std::uint64_t> made() {
    const std::lock_guard lock(mutex_);
    return made_;
  }
  [[nodiscard]] bool made_by_caller(std::uint64_t position) {
    const std::lock_guard lock(mutex_);
    return by_caller_.contains(position);
  }
  // Waits until so many were made, or for ten seconds.
  [[nodiscard]] std::size_t wait_for(std::size_t count) {
    for (int i = 0; i < 10'000 && made().size() < count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return made().size();
  }

  std::uint64_t failing = UINT64_MAX;
  std::size_t length = 3;

 private:
  std::mutex mutex_;
  std::vector<std::uint64_t> made_;
  std::set<std::uint64_t> by_caller_;
  const std::thread::id caller_ = std::this_thread::get_id();
};

SoundsAhead::Make by(Maker& maker) {
  return [&maker](std::uint64_t position) { return maker(position); };
}

TEST(SoundsAhead, MakesEachSoundOnceAndInOrderOnOneThread) {
  Maker maker;
  {
    SoundsAhead ahead(by(maker), positions_up_to(200), {.thread_count = 1});
    for (std::uint64_t i = 0; i < 200; ++i) {
      const Sound sound = ahead.get(i);
      ASSERT_TRUE(sound.ok());
      EXPECT_EQ(*sound, std::vector<float>(3, static_cast<float>(i)));
    }
  }
  // The caller makes some of them itself, at its own pace.
  std::vector<std::uint64_t> made = maker.made();
  const auto by_caller = std::ranges::stable_partition(
      made, [&](std::uint64_t position) { return !maker.made_by_caller(position); });
  EXPECT_TRUE(std::ranges::is_sorted(made.begin(), by_caller.begin()));
  EXPECT_TRUE(std::ranges::is_sorted(by_caller));
  std::ranges::sort(made);
  EXPECT_EQ(made, positions_up_to(200));
}

TEST(SoundsAhead, LooksAheadOnlyAsFarAsItSays) {
  Maker maker;
  SoundsAhead ahead(by(maker), positions_up_to(1000), {.thread_count = 2});
  constexpr std::size_t kMost = 2 * SoundsAhead::kClipsAheadMax;
  for (std::uint64_t i = 0; i < 50; ++i) ASSERT_TRUE(ahead.get(i).ok());
  EXPECT_EQ(maker.wait_for(50 + kMost), 50 + kMost);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(maker.made().size(), 50 + kMost);
}

TEST(SoundsAhead, MakesNothingAheadForACallerWhoWantsFewClips) {
  Maker maker;
  SoundsAhead ahead(by(maker), positions_up_to(1000), {.thread_count = 2});
  for (std::uint64_t i = 100; i < 1000; i += 100) ASSERT_TRUE(ahead.get(i).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(maker.made().size(), 9U);
}

TEST(SoundsAhead, GivesClipsOfAUnitInAnyOrderAndTwice) {
  Maker maker;
  SoundsAhead ahead(by(maker), positions_up_to(64), {.thread_count = 2, .clips_together = 16});
  for (std::uint64_t unit = 0; unit < 4; ++unit) {
    for (std::uint64_t i = 16; i-- > 0;) {
      const Sound sound = ahead.get(16 * unit + i);
      ASSERT_TRUE(sound.ok());
      EXPECT_EQ(sound->front(), static_cast<float>(16 * unit + i));
    }
  }
  EXPECT_EQ(maker.made().size(), 64U);
  ASSERT_TRUE(ahead.get(63).ok());  // made again
  EXPECT_EQ(maker.made().size(), 65U);
  EXPECT_EQ(ahead.get(0)->front(), 0.0F);       // of a unit that is forgotten
  EXPECT_EQ(ahead.get(1'000'000)->size(), 3U);  // not expected at all
}

TEST(SoundsAhead, KeepsNoMoreWaitingSoundThanItsBytes) {
  Maker maker;
  maker.length = 1000;  // 4,000 bytes
  SoundsAhead ahead(by(maker), positions_up_to(100), {.thread_count = 1, .bytes_max = 10'000});
  for (std::uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(ahead.get(i).ok());
  EXPECT_EQ(maker.wait_for(23), 23U);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(maker.made().size(), 23U);  // 12,000 bytes wait
  for (std::uint64_t i = 20; i < 100; ++i) ASSERT_TRUE(ahead.get(i).ok());
  EXPECT_EQ(maker.made().size(), 100U);
}

TEST(SoundsAhead, AFailureIsItsClipsAlone) {
  Maker maker;
  maker.failing = 5;
  SoundsAhead ahead(by(maker), positions_up_to(20), {.thread_count = 2});
  for (std::uint64_t i = 0; i < 20; ++i) {
    const Sound sound = ahead.get(i);
    EXPECT_EQ(sound.status().code(), i == 5 ? StatusCode::kBadInput : StatusCode::kOk) << i;
  }
}

TEST(SoundsAhead, AnExceptionIsAFailure) {
  SoundsAhead ahead([](std::uint64_t) -> Sound { throw std::bad_alloc(); }, positions_up_to(20),
                    {.thread_count = 2});
  for (std::uint64_t i = 0; i < 20; ++i)
    EXPECT_EQ(ahead.get(i).status().code(), StatusCode::kResource);
}

TEST(SoundsAhead, EndsWhileSoundsAreInWorkAndWait) {
  std::atomic<int> running = 0;
  for (int i = 0; i < 20; ++i) {
    SoundsAhead ahead(
        [&](std::uint64_t) -> Sound {
          ++running;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          --running;
          return std::vector<float>(1000);
        },
        positions_up_to(1000), {.thread_count = 4});
    for (std::uint64_t position = 0; position < 3; ++position)
      ASSERT_TRUE(ahead.get(position).ok());
  }
  EXPECT_EQ(running, 0);
}

TEST(SoundsAhead, ServesManyThreadsAtOnce) {
  Maker maker;
  SoundsAhead ahead(by(maker), positions_up_to(400), {.thread_count = 2, .clips_together = 8});
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t first = 0; first < 4; ++first) {
      threads.emplace_back([&, first] {
        for (std::uint64_t i = first; i < 400; i += 4) {
          const Sound sound = ahead.get(i);
          if (!sound.ok() || sound->front() != static_cast<float>(i)) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace xtts::request
