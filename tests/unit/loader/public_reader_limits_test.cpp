// Tests of what a reader says when the system refuses it something.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "in_child.hpp"
#include "made_cache.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define XTTS_HAS_SANITIZER 1
#endif

namespace xtts {
namespace {

// Limits this process to so much more address space than it has now.
bool limit_address_space(std::uint64_t more_bytes) {
  std::ifstream status("/proc/self/statm");
  std::uint64_t pages = 0;
  status >> pages;
  const rlimit limit{pages * 4096 + more_bytes, RLIM_INFINITY};
  return pages > 0 && ::setrlimit(RLIMIT_AS, &limit) == 0;
}

// Limits this process to so much more writable memory than it has now. This limit holds also where
// addresses were set aside before.
bool limit_data(std::uint64_t more_bytes) {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::uint64_t kib = 0;
  while (status >> word && word != "VmData:") {
  }
  status >> kib;
  const rlimit limit{kib * 1024 + more_bytes, RLIM_INFINITY};
  return kib > 0 && ::setrlimit(RLIMIT_DATA, &limit) == 0;
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
              // Each thread has a stack of 8 MiB.
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

// An epoch that cannot be planned for lack of memory fails. The reader still tells its place.
TEST_F(PublicReaderLimits, AnEpochThatCannotBeginKeepsItsPlace) {
  const Cache opened = cache_.open();
  const ReaderOptions options{.weights = Weights{.draw_count = 1'000'000},
                              .buckets = {{.batch_size = 1000}}};
  EXPECT_EQ(in_child([&] {
              ::mallopt(M_MMAP_THRESHOLD, 1 << 18);  // the heap's rest must not serve large blocks
              auto reader = Reader::open(opened, options);
              if (!reader.ok()) return 1;
              ReaderState state = reader->state();
              state.epoch = 7;
              state.samples_consumed = 5000;
              state.bucket_samples_consumed = {5000};
              if (!limit_data(std::uint64_t{2} << 20U)) return 2;
              if (!reader->load_state(state).ok()) return 3;
              if (reader->next().status().code() != StatusCode::kResource) return 4;
              const ReaderState after = reader->state();
              if (after.epoch != 7 || after.samples_consumed != 5000) return 5;
              if (after.bucket_samples_consumed != state.bucket_samples_consumed) return 6;
              reader->set_epoch(8);
              if (reader->next().status().code() != StatusCode::kResource) return 10;
              const ReaderState begun = reader->state();
              const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
              if (::setrlimit(RLIMIT_DATA, &unlimited) != 0) return 7;
              if (!reader->load_state(begun).ok() || reader->epoch() != 8) return 11;
              if (!reader->load_state(after).ok()) return 8;
              const auto batch = reader->next();
              return batch.ok() && *batch && reader->state().samples_consumed == 6000 ? 0 : 9;
            }),
            0);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Shards are opened once for mapping and once for direct reads. Those are more files than the limit
// allows.
TEST(PublicReaderDescriptors, FilesKeptOpenAreClosedWhereThereAreNoMoreToBeHad) {
#ifdef XTTS_HAS_SANITIZER
  GTEST_SKIP() << "a sanitizer opens pipes to look at memory, which this test leaves no room for";
#endif
  const MadeCache cache({.clip_count = 150,
                         .frames_max = 100,
                         .channel_count = 80,
                         .clips_per_block = 1,
                         .blocks_per_shard = 1});
  for (const Reading reading : {Reading::kMapped, Reading::kDirect}) {
    EXPECT_EQ(in_child([&] {
                rlimit limit{};
                if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
                limit.rlim_cur = open_descriptors() + 40;
                if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
                const auto opened = Cache::open(cache.path());
                if (!opened.ok()) return 2;
                auto reader = Reader::open(*opened, {.batch_size = 10, .reading = reading});
                if (!reader.ok()) return 3;
                return positions_of_epoch(*reader).size() == 150 ? 0 : 4;
              }),
              0);
  }
}

}  // namespace
}  // namespace xtts
