#include "pipeline/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace xtts::pipeline {
namespace {

using Bytes = std::vector<std::uint64_t>;

std::vector<std::uint32_t> parts_of(const Bytes& shards, std::uint32_t part_count) {
  const std::uint64_t total = std::accumulate(shards.begin(), shards.end(), std::uint64_t{0});
  std::vector<std::uint32_t> parts;
  std::uint64_t before = 0;
  for (const std::uint64_t own : shards) {
    parts.push_back(part_of_shard({before, own, total}, part_count));
    before += own;
  }
  return parts;
}

TEST(Partition, DealsRunsOfShardsWithNearlyEqualBytes) {
  const Bytes shards{7, 1, 1, 9, 4, 4, 2, 2, 2, 8, 3, 1, 1, 5};
  const std::uint64_t total = std::accumulate(shards.begin(), shards.end(), std::uint64_t{0});
  for (std::uint32_t count = 1; count <= 20; ++count) {
    const auto parts = parts_of(shards, count);
    EXPECT_TRUE(std::ranges::is_sorted(parts)) << count;
    EXPECT_GE(parts.front(), 1U);
    EXPECT_LE(parts.back(), count);
    Bytes of_part(count, 0);
    for (std::size_t i = 0; i < shards.size(); ++i) of_part[parts[i] - 1] += shards[i];
    for (const std::uint64_t bytes : of_part) EXPECT_LE(bytes, total / count + 9) << count;
  }
}

TEST(Partition, GivesEachPartOneOfEqualShards) {
  EXPECT_EQ(parts_of({5, 5, 5, 5}, 4), (std::vector<std::uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(parts_of({5}, 2), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(parts_of({5, 5, 5, 5}, 2), (std::vector<std::uint32_t>{1, 1, 2, 2}));
}

TEST(Partition, DoesNotOverflow) {
  const std::uint64_t large = std::uint64_t{1} << 62U;
  EXPECT_EQ(parts_of({large, large, large}, 3), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(part_of_shard({large * 3 - 1, 1, large * 3}, 4'000'000'000U), 4'000'000'000U);
}

}  // namespace
}  // namespace xtts::pipeline
