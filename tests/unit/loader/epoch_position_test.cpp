// Tests of a position in the epochs, without a loader that reads them.
#include "loader/epoch_position.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "loader/option_rules.hpp"
#include "loader/stored_source.hpp"
#include "support/memory_env.hpp"
#include "support/test_cache.hpp"

namespace xtts::loader {
namespace {

class EpochPositionTest : public ::testing::Test {
 protected:
  EpochPositionTest() {
    testing::make_test_cache({.clip_count = 40}).add_to(env_, "/cache");
    const std::string path = "/cache";
    source_ = std::make_unique<StoredSource>(*reader::CacheSet::open(env_, std::span(&path, 1)));
  }

  std::unique_ptr<EpochPosition> open(const ReaderOptions& options) {
    const reader::ClipSet& clips = source_->clips();
    layouts_ = {*BatchLayout::plan(clips, chosen_columns(options, clips), options.batch_size)};
    auto position = EpochPosition::open(*source_, layouts_, options);
    EXPECT_TRUE(position.ok()) << position.status().message();
    EXPECT_TRUE((*position)->begin(true).ok());
    return std::move(*position);
  }
  static void take_steps(EpochPosition& position, int count) {
    for (int i = 0; i < count; ++i) position.take_step();
  }

  testing::MemoryEnv env_;
  std::unique_ptr<StoredSource> source_;
  std::vector<BatchLayout> layouts_;
};

TEST_F(EpochPositionTest, AStateLeadsToWhereItWasMade) {
  const auto position = open({.batch_size = 4, .seed = 5});
  position->go_to(3);
  ASSERT_TRUE(position->begin(true).ok());
  take_steps(*position, 2);
  const ReaderState state = position->state();
  EXPECT_EQ(state.samples_consumed, 8U);

  const auto other = open({.batch_size = 4, .seed = 6});
  ASSERT_TRUE(other->load(state).ok());
  ASSERT_TRUE(other->begin(true).ok());
  EXPECT_EQ(other->seed(), 5U);
  EXPECT_EQ(other->epoch(), 3U);
  EXPECT_FALSE(other->is_at_start());
  EXPECT_EQ(other->this_epoch()->first_place(), 8U);
  EXPECT_EQ(other->state().samples_consumed, 8U);
}

TEST_F(EpochPositionTest, AnEpochThatCouldNotBeginKeepsItsState) {
  const auto position = open({.batch_size = 4});
  take_steps(*position, 3);
  ReaderState state = position->state();
  state.epoch = 7;
  ASSERT_TRUE(position->load(state).ok());
  position->set_failure({StatusCode::kResource, "no memory"});
  EXPECT_FALSE(position->is_at_start());
  EXPECT_EQ(position->state().epoch, 7U);
  EXPECT_EQ(position->state().samples_consumed, 12U);
}

TEST_F(EpochPositionTest, AStateOfAnotherOrderChangesNothing) {
  const auto position = open({.batch_size = 4, .seed = 5});
  take_steps(*position, 1);
  const ReaderState other = open({.batch_size = 4, .shuffle = Shuffle::kNone})->state();
  EXPECT_EQ(position->load(other).code(), StatusCode::kMismatch);
  EXPECT_EQ(position->seed(), 5U);
  EXPECT_EQ(position->state().samples_consumed, 4U);
}

TEST_F(EpochPositionTest, StepsGoOnInTheNextEpoch) {
  const auto position = open({.batch_size = 4, .rank = 1, .world_size = 2});
  EXPECT_EQ(position->samples_per_epoch(), 40U);
  EXPECT_EQ(position->samples_per_rank(), 20U);
  EXPECT_EQ(position->end_step(), 10U);
  EXPECT_FALSE(position->may_enter_next_epoch());
  take_steps(*position, 5);
  ASSERT_TRUE(position->may_enter_next_epoch());
  position->enter_next_epoch();
  EXPECT_EQ(position->epoch(), 1U);
  EXPECT_TRUE(position->is_at_start());
  EXPECT_EQ(position->this_epoch()->first_step(), 5U);
  EXPECT_EQ(position->end_step(), 15U);
}

}  // namespace
}  // namespace xtts::loader
