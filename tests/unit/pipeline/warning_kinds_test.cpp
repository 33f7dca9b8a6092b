#include "pipeline/warning_kinds.hpp"

#include <gtest/gtest.h>

namespace xtts::pipeline {
namespace {

TEST(WarningKinds, CountsClipsWhoseWarningsDifferInNumbersAlone) {
  WarningKinds kinds;
  kinds.add("a", "very short: 9.98 ms\nlow sample rate: 1234 Hz");
  kinds.add("b", "silent");
  kinds.add("c", "very short: 0.05 ms");
  const auto sorted = kinds.by_count();
  ASSERT_EQ(sorted.size(), 3U);
  EXPECT_EQ(sorted[0].count, 2U);
  EXPECT_EQ(sorted[0].example, "very short: 9.98 ms");
  EXPECT_EQ(sorted[0].example_id, "a");
  EXPECT_EQ(sorted[1].count, 1U);
}

TEST(WarningKinds, OfAllDifferentWordsKeepsABoundedNumber) {
  WarningKinds kinds;
  for (int i = 0; i < 5000; ++i)
    kinds.add("x", std::string(static_cast<std::size_t>(i % 2500), 'a') + "!");
  const auto sorted = kinds.by_count();
  EXPECT_LE(sorted.size(), 1001U);
  std::uint64_t total = 0;
  for (const auto& kind : sorted) total += kind.count;
  EXPECT_EQ(total, 5000U);
}

}  // namespace
}  // namespace xtts::pipeline
