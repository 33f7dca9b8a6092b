#include "base/lock_reach.hpp"

#include <gtest/gtest.h>

namespace xtts {
namespace {

TEST(LockReach, OfMemoryIsEveryone) {
  const auto reach = real_lock_reach("/dev/shm");
  if (!reach) GTEST_SKIP() << "SKIPPED: no /dev/shm here";
  EXPECT_TRUE(reach->everyone);
}

// Neither a disk nor memory: what we do not know is taken for shared.
TEST(LockReach, OfWhatWeDoNotKnowIsThisKernelAndMount) {
  const auto reach = real_lock_reach("/proc");
  ASSERT_TRUE(reach.ok()) << reach.status().message();
  EXPECT_FALSE(reach->everyone);
  EXPECT_EQ(reach->file_system, "of a kind unknown here");
  EXPECT_GT(reach->circle.size(), 36U) << "a boot's number and a mount's";
  EXPECT_EQ(real_lock_reach("/proc")->circle, reach->circle);
}

TEST(LockReach, OfNothingIsNotFound) {
  EXPECT_EQ(real_lock_reach("/proc/nothing-of-that-name").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace xtts
