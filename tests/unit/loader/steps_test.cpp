#include "loader/steps.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <ostream>
#include <vector>

namespace xtts::loader {

void PrintTo(const PlaceRange& range, std::ostream* out) {
  *out << range.count << " from " << range.first;
}

void PrintTo(const Steps& steps, std::ostream* out) {
  *out << steps.sample_count << " samples from " << steps.first_place << ", batches of "
       << steps.batch_size << ", " << steps.world_size << " ranks, "
       << (steps.last == LastBatch::kPad ? "pad" : "drop");
}

namespace {

constexpr std::uint64_t kSamplesMost = std::uint64_t{1} << 48U;
constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();

std::vector<Steps> many_steps() {
  std::vector<Steps> list;
  for (std::uint64_t count = 0; count <= 30; ++count)
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1}, count / 2, count})
      for (const std::uint32_t batch : {1U, 2U, 5U, 100U})
        for (const std::uint32_t world : {1U, 2U, 3U, 8U})
          for (const LastBatch last : {LastBatch::kDrop, LastBatch::kPad})
            if (first <= count) list.push_back({count, first, batch, world, last});
  return list;
}

// Counts how often the steps [begin, end) take each place.
std::vector<int> taken(const Steps& steps, std::uint64_t begin, std::uint64_t end) {
  std::vector<int> times(steps.sample_count, 0);
  for (std::uint64_t step = begin; step < end; ++step) {
    for (std::uint32_t rank = 0; rank < steps.world_size; ++rank) {
      const PlaceRange places = steps.places_of(step, rank);
      EXPECT_LE(places.count, steps.batch_size);
      EXPECT_LE(places.first + places.count, steps.sample_count);
      for (std::uint64_t i = 0; i < places.count; ++i) ++times[places.first + i];
    }
  }
  return times;
}

std::vector<int> once_from(const Steps& steps, std::uint64_t begin, std::uint64_t end) {
  std::vector<int> times(steps.sample_count, 0);
  for (std::uint64_t place = begin; place < end; ++place) times[place] = 1;
  return times;
}

TEST(Steps, TakeEveryPlaceOnceWhenPadded) {
  for (const Steps& steps : many_steps()) {
    if (steps.last != LastBatch::kPad) continue;
    EXPECT_EQ(taken(steps, 0, steps.step_count()),
              once_from(steps, steps.first_place, steps.sample_count))
        << ::testing::PrintToString(steps);
  }
}

TEST(Steps, TakeFullBatchesAloneWhenDropped) {
  for (const Steps& steps : many_steps()) {
    if (steps.last != LastBatch::kDrop) continue;
    const std::uint64_t end = steps.place_after(steps.step_count());
    EXPECT_LT(steps.sample_count - end, std::uint64_t{steps.batch_size} * steps.world_size);
    EXPECT_EQ(taken(steps, 0, steps.step_count()), once_from(steps, steps.first_place, end))
        << ::testing::PrintToString(steps);
    for (std::uint64_t step = 0; step < steps.step_count(); ++step)
      for (std::uint32_t rank = 0; rank < steps.world_size; ++rank)
        ASSERT_EQ(steps.places_of(step, rank).count, steps.batch_size);
  }
}

TEST(Steps, GoOnExactlyWhereAnEarlierRunEnded) {
  for (const Steps& steps : many_steps()) {
    for (std::uint64_t done = 0; done <= steps.step_count(); ++done) {
      Steps rest = steps;
      rest.first_place = steps.place_after(done);
      ASSERT_EQ(rest.step_count(), steps.step_count() - done) << ::testing::PrintToString(steps);
      for (std::uint64_t step = done; step < steps.step_count(); ++step)
        for (std::uint32_t rank = 0; rank < steps.world_size; ++rank)
          ASSERT_EQ(rest.places_of(step - done, rank), steps.places_of(step, rank))
              << ::testing::PrintToString(steps) << ", step " << step << ", rank " << rank;
    }
  }
}

TEST(Steps, LetAnotherWorldTakeTheRestOnce) {
  for (const Steps& steps : many_steps()) {
    for (const std::uint64_t done : {steps.step_count() / 2, steps.step_count()}) {
      const std::uint64_t place = steps.place_after(done);
      EXPECT_EQ(taken(steps, 0, done), once_from(steps, steps.first_place, place));
      const Steps rest{.sample_count = steps.sample_count,
                       .first_place = place,
                       .batch_size = steps.batch_size + 1,
                       .world_size = 5,
                       .last = LastBatch::kPad};
      EXPECT_EQ(taken(rest, 0, rest.step_count()), once_from(rest, place, rest.sample_count))
          << ::testing::PrintToString(steps);
    }
  }
}

TEST(Steps, HaveNothingBeyondTheirCount) {
  for (const Steps& steps : many_steps()) {
    for (const std::uint64_t step :
         {steps.step_count(), steps.step_count() + 1, std::numeric_limits<std::uint64_t>::max()}) {
      EXPECT_EQ(steps.places_of(step, 0), (PlaceRange{steps.sample_count, 0}));
      EXPECT_EQ(steps.place_after(step), steps.place_after(steps.step_count()));
    }
  }
}

TEST(Steps, DoNotOverflow) {
  Steps steps{.sample_count = kSamplesMost,
              .first_place = kSamplesMost - 1,
              .batch_size = kMost,
              .world_size = kMost,
              .last = LastBatch::kPad};
  ASSERT_EQ(steps.step_count(), 1U);
  EXPECT_EQ(steps.places_of(0, 0), (PlaceRange{kSamplesMost - 1, 1}));
  EXPECT_EQ(steps.places_of(0, 1), (PlaceRange{kSamplesMost, 0}));
  EXPECT_EQ(steps.places_of(0, kMost - 1), (PlaceRange{kSamplesMost, 0}));
  EXPECT_EQ(steps.place_after(1), kSamplesMost);
  steps.last = LastBatch::kDrop;
  EXPECT_EQ(steps.step_count(), 0U);

  steps = {
      .sample_count = kSamplesMost, .batch_size = kMost, .world_size = 1, .last = LastBatch::kPad};
  ASSERT_EQ(steps.step_count(), 65537U);
  EXPECT_EQ(steps.places_of(65536, 0), (PlaceRange{65536 * std::uint64_t{kMost}, 65536}));
  steps = {.sample_count = kSamplesMost, .batch_size = 1, .world_size = 1};
  ASSERT_EQ(steps.step_count(), kSamplesMost);
  EXPECT_EQ(steps.places_of(kSamplesMost - 1, 0), (PlaceRange{kSamplesMost - 1, 1}));
}

TEST(Steps, AreNoneForEmptyBatchesAndEmptyWorlds) {
  for (const LastBatch last : {LastBatch::kDrop, LastBatch::kPad}) {
    EXPECT_EQ((Steps{10, 0, 0, 2, last}.step_count()), 0U);
    EXPECT_EQ((Steps{10, 0, 2, 0, last}.step_count()), 0U);
    EXPECT_EQ((Steps{10, 0, 0, 2, last}.places_of(0, 0)), (PlaceRange{10, 0}));
    EXPECT_EQ((Steps{10, 11, 2, 2, last}.step_count()), 0U);
  }
}

}  // namespace
}  // namespace xtts::loader
