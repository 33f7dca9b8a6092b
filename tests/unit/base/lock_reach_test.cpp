#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/storage_facts.hpp"
#include "support/temp_folder.hpp"

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

class Turns : public ::testing::Test {
 protected:
  Turns() { folder_.write("file", "shared"); }
  [[nodiscard]] std::unique_ptr<RandomAccessFile> open() const {
    auto file = Env::real().open_for_read(folder_.path() + "/file");
    EXPECT_TRUE(file.ok()) << file.status().message();
    return std::move(*file);
  }

  testing::TempFolder folder_;
};

TEST_F(Turns, OneOpeningHasItAtATime) {
  const auto first = open();
  const auto second = open();
  auto turn = first->try_turn();
  ASSERT_TRUE(turn.ok()) << turn.status().message();
  EXPECT_EQ(second->try_turn().status().code(), StatusCode::kBusy);
  turn->reset();
  EXPECT_TRUE(second->try_turn().ok());
  EXPECT_TRUE(first->try_turn().ok()) << "given back at once";
}

TEST_F(Turns, AreApartFromLocks) {
  const auto lock = Env::real().lock(folder_.path() + "/file", LockKind::kExclusive);
  ASSERT_TRUE(lock.ok()) << lock.status().message();
  EXPECT_TRUE(open()->try_turn().ok());
}

// A child that was forked meanwhile has the file open, too.
TEST_F(Turns, AreNotKeptByAForkedChild) {
  const auto first = open();
  const auto second = open();
  auto turn = first->try_turn();
  ASSERT_TRUE(turn.ok()) << turn.status().message();
  int until_end[2];
  ASSERT_EQ(::pipe(until_end), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    ::close(until_end[1]);
    ::_exit(::read(until_end[0], &byte, 1) == 0 ? 0 : 1);
  }
  turn->reset();
  EXPECT_TRUE(second->try_turn().ok());
  ::close(until_end[1]);
  ::close(until_end[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
}

}  // namespace
}  // namespace xtts
