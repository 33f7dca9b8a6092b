#include "plan/shard_dealer.hpp"

#include <gtest/gtest.h>

namespace xtts::plan {
namespace {

corpus::Clip clip(std::uint64_t source_bytes, const std::string& talk = {}) {
  corpus::Clip clip;
  clip.source = talk;
  clip.source_bytes = source_bytes;
  if (!talk.empty()) clip.segment = corpus::Segment{.start_s = 0.0, .end_s = 1.0};
  return clip;
}

TEST(ShardDealer, LeavesRefusedTextsInTheShardThatIsBeingFilled) {
  ShardDealer dealer(2, 2);
  dealer.measure(clip(9), Verdict::kRefusedText);
  dealer.measure(clip(1), Verdict::kCompute);
  dealer.measure(clip(1), Verdict::kCompute);
  dealer.measure(clip(1), Verdict::kCompute);
  dealer.measure(clip(1), Verdict::kCompute);
  dealer.measure(clip(9), Verdict::kRefusedText);  // behind the last shard
  const auto parts = dealer.deal();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].clip_count, 3U);
  EXPECT_EQ(parts[1].clip_count, 3U);
  EXPECT_EQ(parts[0].shard_count, 1U);
  EXPECT_EQ(parts[1].source_bytes, 2U);
}

TEST(ShardDealer, GivesTheFirstPartWhatNoShardHolds) {
  ShardDealer dealer(2, 3);
  dealer.measure(clip(9), Verdict::kRefusedText);
  const auto parts = dealer.deal();
  EXPECT_EQ(parts[0].clip_count, 1U);
  EXPECT_EQ(parts[0].shard_count, 0U);
  EXPECT_EQ(parts[1].clip_count + parts[2].clip_count, 0U);
  EXPECT_EQ(ShardDealer(2, 3).deal().size(), 3U);
}

TEST(ShardDealer, CountsASourceOncePerShard) {
  ShardDealer dealer(2, 1);
  for (int i = 0; i < 3; ++i) dealer.measure(clip(100, "talk.wav"), Verdict::kCompute);
  const auto parts = dealer.deal();
  EXPECT_EQ(parts[0].source_bytes, 200U);
  EXPECT_EQ(parts[0].shard_count, 2U);
}

}  // namespace
}  // namespace xtts::plan
