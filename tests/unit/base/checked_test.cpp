#include "base/checked.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace xtts {
namespace {

constexpr std::uint64_t kMax = UINT64_MAX;

TEST(Checked, MultipliesUpToTheLargestValueAndNoFurther) {
  EXPECT_EQ(checked_multiply<std::uint64_t>(0, kMax), 0U);
  EXPECT_EQ(checked_multiply<std::uint64_t>(1ULL << 32U, (1ULL << 32U) - 1), kMax - 0xFFFFFFFFULL);
  EXPECT_EQ(checked_multiply<std::uint64_t>(1ULL << 32U, 1ULL << 32U), std::nullopt);
}

TEST(Checked, ARangeLiesWithinOnlyWithItsEnd) {
  EXPECT_TRUE(lies_within<std::uint64_t>(0, 10, 10));
  EXPECT_TRUE(lies_within<std::uint64_t>(10, 0, 10));
  EXPECT_FALSE(lies_within<std::uint64_t>(1, 10, 10));
  EXPECT_FALSE(lies_within<std::uint64_t>(11, 0, 10));
  EXPECT_FALSE(lies_within<std::uint64_t>(kMax, 2, 10));  // the end would wrap to 1
}

TEST(Checked, AlignsUp) {
  EXPECT_EQ(align_up<std::uint64_t>(0, 64), 0U);
  EXPECT_EQ(align_up<std::uint64_t>(1, 64), 64U);
  EXPECT_EQ(align_up<std::uint64_t>(64, 64), 64U);
  EXPECT_EQ(align_up<std::uint64_t>(65, 64), 128U);
}

}  // namespace
}  // namespace xtts
