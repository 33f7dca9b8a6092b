#include "base/memory_reserve.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace xtts {
namespace {

bool gives_memory() {
  try {
    std::get_new_handler()();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// Counts, while an exception is on its way, how often memory is given back.
struct OnTheWayOut {
  int& count;
  ~OnTheWayOut() {
    while (gives_memory()) ++count;
  }
};

TEST(MemoryReserve, GivesOnceAndThenOnlyToWhoCannotThrow) {
  const MemoryReserve reserve;
  ASSERT_NE(std::get_new_handler(), nullptr);
  EXPECT_TRUE(gives_memory());
  EXPECT_FALSE(gives_memory());
  int count = 0;
  try {
    const OnTheWayOut destroyed{count};
    throw std::runtime_error("on the way");
  } catch (const std::runtime_error&) {
    EXPECT_FALSE(gives_memory());
  }
  EXPECT_EQ(count, 3);
}

TEST(MemoryReserve, LastsAsLongAsTheLastOfThem) {
  {
    const MemoryReserve first;
    { const MemoryReserve second; }
    EXPECT_NE(std::get_new_handler(), nullptr);
    EXPECT_TRUE(gives_memory());
  }
  EXPECT_EQ(std::get_new_handler(), nullptr);
  const MemoryReserve anew;
  EXPECT_TRUE(gives_memory());
}

TEST(MemoryReserve, LeavesTheHandlerOfItsHostAlone) {
  const auto of_the_host = [] { throw std::bad_alloc(); };
  std::set_new_handler(of_the_host);
  {
    const MemoryReserve reserve;
    EXPECT_EQ(std::get_new_handler(), +of_the_host);
  }
  EXPECT_EQ(std::get_new_handler(), +of_the_host);
  std::set_new_handler(nullptr);
}

}  // namespace
}  // namespace xtts
