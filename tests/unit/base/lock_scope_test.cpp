#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/storage_facts.hpp"
#include "support/temp_folder.hpp"

namespace xtts {
namespace {

TEST(LockScope, OfMemoryIsEveryone) {
  const auto scope = real_lock_scope("/dev/shm");
  if (!scope) GTEST_SKIP() << "SKIPPED: no /dev/shm here";
  EXPECT_TRUE(scope->covers_all);
}

// Neither a disk nor memory: what we do not know is taken for shared.
TEST(LockScope, OfWhatWeDoNotKnowIsThisKernelAndMount) {
  const auto scope = real_lock_scope("/proc");
  ASSERT_TRUE(scope.ok()) << scope.status().message();
  EXPECT_FALSE(scope->covers_all);
  EXPECT_EQ(scope->file_system, "of a kind unknown here");
  EXPECT_GT(scope->domain.size(), 36U) << "a boot's number and a mount's";
  EXPECT_EQ(real_lock_scope("/proc")->domain, scope->domain);
}

TEST(LockScope, OfNothingIsNotFound) {
  EXPECT_EQ(real_lock_scope("/proc/nothing-of-that-name").status().code(), StatusCode::kNotFound);
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
  auto turn = first->try_lock();
  ASSERT_TRUE(turn.ok()) << turn.status().message();
  EXPECT_EQ(second->try_lock().status().code(), StatusCode::kBusy);
  turn->reset();
  EXPECT_TRUE(second->try_lock().ok());
  EXPECT_TRUE(first->try_lock().ok()) << "given back at once";
}

TEST_F(Turns, AreApartFromLocks) {
  const auto lock = Env::real().lock(folder_.path() + "/file", LockKind::kExclusive);
  ASSERT_TRUE(lock.ok()) << lock.status().message();
  EXPECT_TRUE(open()->try_lock().ok());
}

// A child that was forked meanwhile has the file open, too.
TEST_F(Turns, AreNotKeptByAForkedChild) {
  const auto first = open();
  const auto second = open();
  auto turn = first->try_lock();
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
  EXPECT_TRUE(second->try_lock().ok());
  ::close(until_end[1]);
  ::close(until_end[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
}

}  // namespace
}  // namespace xtts
