// Real files, cut while they are mapped: pages behind the new end raise SIGBUS.
#include "base/guarded_read.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/env.hpp"
#include "base/file_mapping.hpp"
#include "support/temp_folder.hpp"

namespace xtts {
namespace {

constexpr std::size_t kFileBytes = 256 * 1024;

std::string text_of(std::size_t size_bytes) {
  std::string text(size_bytes, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i / 100 % 26);
  return text;
}

class GuardedRead : public ::testing::Test {
 protected:
  GuardedRead() : path_(join_path(folder_.path(), "file")) {
    folder_.write("file", text_of(kFileBytes));
    auto file = Env::real().open_for_read(path_);
    EXPECT_TRUE(file.ok()) << file.status().message();
    auto mapping = (*file)->map();
    EXPECT_TRUE(mapping.ok()) << mapping.status().message();
    mapping_ = *mapping;
    guard_reads();
  }

  void cut(std::size_t size_bytes) {
    ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(size_bytes)), 0);
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return mapping_->bytes(); }

  testing::TempFolder folder_;
  std::string path_;
  std::shared_ptr<const FileMapping> mapping_;
};

TEST_F(GuardedRead, CopiesWhatIsThere) {
  std::vector<std::byte> out(kFileBytes);
  ASSERT_TRUE(guarded_copy(bytes(), out));
  EXPECT_EQ(std::memcmp(out.data(), text_of(kFileBytes).data(), kFileBytes), 0);
}

TEST_F(GuardedRead, CutFileIsAValueAgainAndAgain) {
  cut(100'000);
  std::vector<std::byte> out(kFileBytes);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(guarded_copy(bytes(), out));
    EXPECT_TRUE(guarded_copy(bytes().first(90'000), std::span(out).first(90'000)));
  }
}

TEST_F(GuardedRead, EachThreadHasItsOwnWayOut) {
  cut(0);
  std::vector<std::thread> threads;
  std::vector<int> failed_count(4);
  for (std::size_t t = 0; t < failed_count.size(); ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::byte> out(4096);
      for (std::size_t i = 0; i < 200; ++i) {
        const std::size_t page = (i * 7 + t) % (kFileBytes / 4096);
        if (!guarded_copy(bytes().subspan(page * 4096, 4096), out)) ++failed_count[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : failed_count) EXPECT_EQ(count, 200);
}

TEST_F(GuardedRead, WorksAfterSomebodyElseTookTheSignal) {
  std::vector<std::byte> out(4096);
  ASSERT_TRUE(guarded_copy(bytes().first(4096), out));
  struct sigaction theirs = {};
  theirs.sa_handler = SIG_DFL;
  ASSERT_EQ(::sigaction(SIGBUS, &theirs, nullptr), 0);
  guard_reads();
  cut(0);
  EXPECT_FALSE(guarded_copy(bytes().first(4096), out));
}

TEST_F(GuardedRead, WorksInAThreadThatHadBlockedTheSignal) {
  cut(0);
  bool copied = true;
  std::thread thread([&] {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
    guard_reads();
    std::vector<std::byte> out(4096);
    copied = guarded_copy(bytes().last(4096), out);
  });
  thread.join();
  EXPECT_FALSE(copied);
}

using GuardedReadDeathTest = GuardedRead;

TEST_F(GuardedReadDeathTest, OtherBusErrorsEndTheProcessAsEver) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer answers SIGBUS itself";
#endif
  EXPECT_EXIT(
      {
        guard_reads();
        cut(0);
        const volatile std::byte touched = bytes()[5000];
        (void)touched;
      },
      ::testing::KilledBySignal(SIGBUS), "");
}

TEST_F(GuardedReadDeathTest, OtherBusErrorsGoToTheHandlerThatWasThere) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        struct sigaction theirs = {};
        theirs.sa_handler = [](int) { ::_exit(42); };
        (void)::sigaction(SIGBUS, &theirs, nullptr);
        guard_reads();
        cut(0);
        const volatile std::byte touched = bytes()[5000];
        (void)touched;
      },
      ::testing::ExitedWithCode(42), "");
}

// Theirs, put in front of ours, calls ours, which was in front again meanwhile.
TEST_F(GuardedReadDeathTest, HandlersInACircleEndAtTheOneThatWasThereFirst) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        struct sigaction first = {};
        first.sa_handler = [](int) { ::_exit(42); };
        (void)::sigaction(SIGBUS, &first, nullptr);
        guard_reads();
        static struct sigaction ours = {};
        struct sigaction theirs = {};
        theirs.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
          ours.sa_sigaction(signal, info, context);
        };
        theirs.sa_flags = SA_SIGINFO;
        (void)::sigaction(SIGBUS, &theirs, &ours);
        guard_reads();
        cut(0);
        const volatile std::byte touched = bytes()[5000];
        (void)touched;
      },
      ::testing::ExitedWithCode(42), "");
}

TEST_F(GuardedRead, MappingTellsWhatLiesInMemory) {
  EXPECT_EQ(mapping_->resident_bytes(0, kFileBytes), kFileBytes);  // it was written just now
  EXPECT_EQ(mapping_->resident_bytes(100, 50), 50U);
  EXPECT_EQ(mapping_->resident_bytes(kFileBytes, 50), 0U);
  mapping_->will_need(5000, 100'000);
  mapping_->populate(5000, 100'000);
  mapping_->populate(kFileBytes + 5, 10);  // outside: no harm
}

TEST_F(GuardedRead, PagesAreHeldInMemoryUntilTheyAreLetGo) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "SKIPPED: under a sanitizer mlock does nothing";
#endif
  const auto locked_kib = [] {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmLck:")) return std::stol(line.substr(6));
    }
    return 0L;
  };
  const long before = locked_kib();
  const Status held = mapping_->lock_pages(5000, 10'000);
  if (!held.ok()) GTEST_SKIP() << "SKIPPED: " << held.message();
  EXPECT_EQ(locked_kib(), before + 12);  // three pages
  ASSERT_TRUE(mapping_->lock_pages(5000, 10'000).ok());
  EXPECT_EQ(locked_kib(), before + 12);
  mapping_->unlock_pages(5000, 10'000);
  EXPECT_EQ(locked_kib(), before);
  EXPECT_TRUE(mapping_->lock_pages(kFileBytes + 5, 10).ok());  // outside: nothing to hold
}

TEST_F(GuardedRead, EmptyFileIsNotMapped) {
  folder_.write("empty", "");
  const auto file = Env::real().open_for_read(join_path(folder_.path(), "empty"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->map().status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace xtts
