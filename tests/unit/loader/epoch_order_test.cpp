// These tests check what holds for every order. formats/order-v1.md has the definition, and
// order_v1_vectors_test.cpp compares with an independent implementation.
#include "loader/epoch_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <ostream>
#include <vector>

namespace xtts::loader {

void PrintTo(const EpochOrderOptions& options, std::ostream* out) {
  *out << "shuffle " << int{static_cast<std::uint8_t>(options.shuffle)} << ", "
       << options.sample_count << " samples, seed " << options.seed << ", epoch " << options.epoch
       << ", R " << options.stretch_samples << ", G " << options.stretches_per_window;
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

EpochOrderOptions windows(std::uint64_t sample_count, std::uint64_t stretch_samples,
                          std::uint64_t stretches_per_window) {
  return {.sample_count = sample_count,
          .shuffle = Shuffle::kWindow,
          .seed = 42,
          .epoch = 3,
          .stretch_samples = stretch_samples,
          .stretches_per_window = stretches_per_window};
}

// All small counts, with stretches and windows that divide them, do not divide them, or are longer.
std::vector<EpochOrderOptions> many_windows() {
  std::vector<EpochOrderOptions> list;
  for (std::uint64_t count = 0; count <= 40; ++count)
    for (const std::uint64_t stretch : {1U, 2U, 3U, 7U, 40U, 1000U})
      for (const std::uint64_t stretches : {1U, 2U, 5U, 1000U})
        list.push_back(windows(count, stretch, stretches));
  list.push_back(windows(2000, 32, 8));
  list.push_back(windows(2047, 64, 3));
  list.push_back(windows(13, kMost, kMost));
  return list;
}

std::vector<std::uint64_t> samples_from(const EpochOrder& order, std::uint64_t first,
                                        std::uint64_t count) {
  std::vector<std::uint64_t> samples;
  for (std::uint64_t i = first; i < first + count; ++i) samples.push_back(order.sample_at(i));
  return samples;
}

std::vector<std::uint64_t> whole(const EpochOrder& order) {
  return samples_from(order, 0, order.sample_count());
}

std::vector<std::uint64_t> ascending(std::uint64_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  return numbers;
}

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> numbers) {
  std::ranges::sort(numbers);
  return numbers;
}

std::vector<std::uint64_t> samples_of(const std::vector<SampleRange>& ranges) {
  std::vector<std::uint64_t> samples;
  for (const SampleRange& range : ranges)
    for (std::uint64_t i = 0; i < range.sample_count; ++i)
      samples.push_back(range.first_sample + i);
  return samples;
}

TEST(EpochOrder, LeavesTheOrderAloneWithoutShuffle) {
  for (const std::uint64_t count : {0U, 1U, 50U})
    EXPECT_EQ(whole(EpochOrder({.sample_count = count, .seed = 5})), ascending(count));
}

TEST(EpochOrder, GivesEverySampleOnceWhenShuffledGlobally) {
  for (std::uint64_t count = 0; count <= 300; ++count) {
    const EpochOrder order({.sample_count = count, .shuffle = Shuffle::kGlobal, .epoch = count});
    EXPECT_EQ(sorted(whole(order)), ascending(count));
  }
}

TEST(EpochOrder, GivesEverySampleOnceWhenShuffledInWindows) {
  for (const EpochOrderOptions& options : many_windows())
    EXPECT_EQ(sorted(whole(EpochOrder(options))), ascending(options.sample_count))
        << ::testing::PrintToString(options);
}

TEST(EpochOrder, LetsWindowsFollowOneAnother) {
  for (const EpochOrderOptions& options : many_windows()) {
    const EpochOrder order(options);
    std::uint64_t place = 0;
    for (std::uint64_t w = 0; w < order.window_count(); ++w) {
      const Window window = order.window(w);
      ASSERT_EQ(window.first_place, place) << ::testing::PrintToString(options);
      ASSERT_GT(window.sample_count, 0U);
      for (const std::uint64_t end = place + window.sample_count; place < end; ++place)
        ASSERT_EQ(order.window_of(place), w) << ::testing::PrintToString(options);
    }
    EXPECT_EQ(place, options.sample_count) << ::testing::PrintToString(options);
  }
}

TEST(EpochOrder, GivesAWindowTheSamplesOfItsStretchesAlone) {
  for (const EpochOrderOptions& options : many_windows()) {
    const EpochOrder order(options);
    for (std::uint64_t w = 0; w < order.window_count(); ++w) {
      const Window window = order.window(w);
      EXPECT_EQ(sorted(samples_from(order, window.first_place, window.sample_count)),
                sorted(samples_of(order.stretches_of(w))))
          << ::testing::PrintToString(options) << ", window " << w;
    }
  }
}

TEST(EpochOrder, CutsStretchesWhereTheCanonicalOrderSays) {
  for (const EpochOrderOptions& options : many_windows()) {
    const EpochOrder order(options);
    for (std::uint64_t w = 0; w < order.window_count(); ++w) {
      const auto stretches = order.stretches_of(w);
      ASSERT_LE(stretches.size(), options.stretches_per_window);
      if (w + 1 < order.window_count()) {
        ASSERT_EQ(stretches.size(), options.stretches_per_window);
      }
      for (const SampleRange& stretch : stretches) {
        ASSERT_EQ(stretch.first_sample % options.stretch_samples, 0U);
        ASSERT_EQ(stretch.sample_count,
                  std::min(options.stretch_samples, options.sample_count - stretch.first_sample));
      }
    }
  }
}

TEST(EpochOrder, HasNoWindowsUnlessAskedFor) {
  EXPECT_EQ(EpochOrder({.sample_count = 9}).window_count(), 0U);
  EXPECT_EQ(EpochOrder({.sample_count = 9, .shuffle = Shuffle::kGlobal}).window_count(), 0U);
  EXPECT_EQ(EpochOrder(windows(0, 4, 2)).window_count(), 0U);
}

TEST(EpochOrder, TakesStretchesLongerThanEverythingForOneWindow) {
  const EpochOrder order(windows(13, kMost, kMost));
  ASSERT_EQ(order.window_count(), 1U);
  EXPECT_EQ(order.window(0), (Window{.first_place = 0, .sample_count = 13}));
  EXPECT_THAT(order.stretches_of(0), ElementsAre(SampleRange{0, 13}));
}

TEST(EpochOrder, HoldsUpToItsLargestSize) {
  for (const std::uint64_t count : {kOrderSizeMax, kOrderSizeMax - 1, kOrderSizeMax / 2 + 1}) {
    for (const std::uint64_t stretch : {std::uint64_t{1}, std::uint64_t{4096}, count - 1, count}) {
      const EpochOrder order(windows(count, stretch, 16));
      for (std::uint64_t i = 0; i < 20; ++i) {
        const std::uint64_t place = mix(i) % count;
        const std::uint64_t w = order.window_of(place);
        const Window window = order.window(w);
        ASSERT_GE(place, window.first_place);
        ASSERT_LT(place - window.first_place, window.sample_count);
        const std::uint64_t sample = order.sample_at(place);
        ASSERT_TRUE(std::ranges::any_of(order.stretches_of(w),
                                        [&](const SampleRange& range) {
                                          return sample >= range.first_sample &&
                                                 sample - range.first_sample < range.sample_count;
                                        }))
            << count << " samples, R " << stretch << ", place " << place;
      }
      const std::uint64_t last = order.window_count() - 1;
      EXPECT_EQ(order.window(last).first_place + order.window(last).sample_count, count);
    }
  }
}

}  // namespace
}  // namespace xtts::loader
