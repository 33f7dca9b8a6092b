// What a reader says when the system refuses it something.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "in_child.hpp"
#include "made_cache.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define XTTS_HAS_SANITIZER 1
#endif

namespace xtts {
namespace {

// Leaves this process so much more address space than it has.
bool limit_address_space(std::uint64_t more_bytes) {
  std::ifstream status("/proc/self/statm");
  std::uint64_t pages = 0;
  status >> pages;
  const rlimit limit{pages * 4096 + more_bytes, RLIM_INFINITY};
  return pages > 0 && ::setrlimit(RLIMIT_AS, &limit) == 0;
}

class PublicReaderLimits : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef XTTS_HAS_SANITIZER
    GTEST_SKIP() << "a sanitizer needs the address space that this test takes away";
#endif
  }

  MadeCache cache_;
};

TEST_F(PublicReaderLimits, ThreadsThatAreRefusedAreATypedErrorAndNoneIsLeftBehind) {
  const Cache opened = cache_.open();
  EXPECT_EQ(in_child([&] {
              if (!limit_address_space(std::uint64_t{200} << 20U)) return 1;
              // Each has a stack of 8 MiB.
              const auto many = Reader::open(opened, {.batch_size = 4, .thread_count = 256});
              if (many.status().code() != StatusCode::kResource) return 2;
              auto few = Reader::open(opened, {.batch_size = 4, .thread_count = 2});
              if (!few.ok()) return 3;
              return positions_of_epoch(*few).size() == 60 ? 0 : 4;
            }),
            0);
}

TEST_F(PublicReaderLimits, MemoryThatIsRefusedIsATypedError) {
  const Cache opened = cache_.open();
  EXPECT_EQ(in_child([&] {
              if (!limit_address_space(std::uint64_t{64} << 20U)) return 1;
              const auto reader = Reader::open(opened, {.batch_size = 1U << 20U});
              return reader.status().code() == StatusCode::kResource ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace xtts
