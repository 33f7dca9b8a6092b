// Tests of what an epoch may lose, and of how losses are told.
#include "loader/losses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace xtts::loader {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Only its remedy is asked for here.
class MendableSource final : public RecordSource {
 public:
  const reader::ClipSet& clips() const override { return *clips_; }
  Result<std::unique_ptr<RecordFeed>> open_feed(FeedJob /*job*/) override {
    return Status(StatusCode::kInternal, "no feed");
  }
  std::uint32_t default_thread_count() const override { return 1; }
  std::string remedy() const override { return "mend it"; }
  std::string state_mismatch_message(const std::string& /*digest*/) const override { return {}; }

 private:
  std::shared_ptr<reader::ClipSet> clips_;
};
const MendableSource kSource;

Status lose(Losses& losses, std::uint64_t position, const std::string& text) {
  BatchSlot slot;
  slot.found.damage = {{.position = position, .text = text}};
  slot.finished.left_out_count = 1;
  return losses.count(slot);
}

ReaderStats stats_of(const Losses& losses) {
  ReaderStats stats;
  losses.add_to(stats);
  return stats;
}

TEST(Losses, AnEpochFailsOnceItHasLostMoreThanItMay) {
  Losses losses(kSource, 0.05);
  losses.begin_epoch(3, 40);
  EXPECT_TRUE(lose(losses, 7, "first").ok());
  EXPECT_TRUE(lose(losses, 8, "second").ok());
  EXPECT_TRUE(losses.failure().ok());
  EXPECT_EQ(lose(losses, 9, "third").code(), StatusCode::kCorrupt);
  EXPECT_EQ(losses.failure().message(),
            "epoch 3 has left out 3 of 40 clips, more than max_damage allows (5 %). The first: "
            "first. mend it");
  losses.begin_epoch(4, 40);
  EXPECT_TRUE(losses.failure().ok());
  EXPECT_TRUE(lose(losses, 7, "first").ok());
  EXPECT_EQ(stats_of(losses).left_out_count, 4U);
  EXPECT_EQ(stats_of(losses).epoch_left_out_count, 1U);
  EXPECT_THAT(losses.positions(), ElementsAre(7, 8, 9));
}

TEST(Losses, WithoutALimitNothingFails) {
  Losses losses(kSource, std::nullopt);
  losses.begin_epoch(0, 1);
  EXPECT_TRUE(lose(losses, 1, "first").ok());
  EXPECT_TRUE(lose(losses, 2, "second").ok());
}

TEST(Losses, AnEpochIsReportedOnce) {
  Losses losses(kSource, std::nullopt);
  losses.begin_epoch(2, 10);
  EXPECT_THAT(losses.report(), IsEmpty());
  ASSERT_TRUE(lose(losses, 1, "first").ok());
  EXPECT_EQ(losses.report(), "epoch 2 has left out 1 of 10 clips. mend it");
  EXPECT_THAT(losses.report(), IsEmpty());
}

TEST(Losses, KnownRejectsCountOnce) {
  Losses losses(kSource, std::nullopt);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    losses.note_known_rejects(std::vector<std::uint64_t>{4, 6});
    losses.begin_epoch(epoch, 10);
  }
  EXPECT_EQ(stats_of(losses).left_out_count, 2U);
  EXPECT_EQ(stats_of(losses).epoch_left_out_count, 0U);
  EXPECT_THAT(losses.positions(), ElementsAre(4, 6));
}

TEST(Losses, DamageIsCountedAndItsFirstTextsAreKept) {
  Losses losses(kSource, std::nullopt);
  for (int i = 0; i < 20; ++i) losses.note_damage(std::to_string(i));
  EXPECT_EQ(stats_of(losses).check_failures, 20U);
  ASSERT_EQ(stats_of(losses).first_failures.size(), 16U);
  EXPECT_EQ(stats_of(losses).first_failures.back(), "15");
}

}  // namespace
}  // namespace xtts::loader
