// Files read into the memory of the adversarial driver, by the libcufile.so.0 for tests.
#include "cufile/gpu_read_queue.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "base/checked.hpp"
#include "cuda/memory.hpp"
#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cufile/fake_cufile.hpp"
#include "support/temp_folder.hpp"

namespace xtts::cufile {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 64;

class GpuReadQueueTest : public ::testing::Test {
 protected:
  GpuReadQueueTest() {
    testing::fake_cuda::reset({.seed = 4, .is_started = true});
    testing::fake_cufile::reset();
    for (std::size_t i = 0; i < kPages * kPage; ++i) text_.push_back(letter(i));
    gpu_ = *cuda::Context::open(0);
    memory_ = *cuda::DevicePool::of(gpu_)->allocate((kPages + 1) * kPage);
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    cells_ = {reinterpret_cast<std::byte*>(align_up(memory_.address(), kPage)), kPages * kPage};
    file_ = open_file();
  }
  ~GpuReadQueueTest() override {
    file_.reset();
    EXPECT_THAT(testing::fake_cufile::leftovers(), IsEmpty());
    memory_ = {};
    gpu_.reset();
    EXPECT_THAT(testing::fake_cuda::faults(), IsEmpty());
    EXPECT_THAT(testing::fake_cuda::leftovers(), IsEmpty());
  }

  static char letter(std::size_t i) { return static_cast<char>('A' + i / 512 % 50); }
  [[nodiscard]] std::shared_ptr<const DirectFile> open_file() {
    const std::string path = folder_.write("file", text_);
    return std::make_shared<DirectFile>(::open(path.c_str(), O_RDONLY | O_CLOEXEC), 512);
  }
  [[nodiscard]] std::unique_ptr<DirectQueue> open(std::uint32_t depth = 8) const {
    auto queue = GpuReadQueue::open(*library(), gpu_, cells_, depth);
    EXPECT_TRUE(queue.ok()) << queue.status().message();
    return std::move(*queue);
  }
  [[nodiscard]] const CuFile* library() const { return *CuFile::open(*gpu_); }
  // Page `page` of the file, into the cell of that number.
  [[nodiscard]] DirectRead read_of(std::size_t page) const {
    return {.file = file_.get(),
            .offset_bytes = page * kPage,
            .out = cells_.subspan(page * kPage, kPage),
            .tag = page};
  }
  [[nodiscard]] std::string bytes_of(std::size_t page) const {
    const auto bytes = testing::fake_cuda::copy_to_host(cells_.data() + page * kPage, kPage);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  static std::vector<DirectDone> reap_all(DirectQueue& queue) {
    std::vector<DirectDone> all;
    for (;;) {
      std::vector<DirectDone> some(3);
      const auto count = queue.reap(some);
      if (!count.ok() || *count == 0) return all;
      all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(*count));
    }
  }

  testing::TempFolder folder_;
  std::string text_;
  std::shared_ptr<const cuda::Context> gpu_;
  cuda::DeviceMemory memory_;
  std::span<std::byte> cells_;
  std::shared_ptr<const DirectFile> file_;
};

TEST_F(GpuReadQueueTest, EveryReadComesBackOnceWithItsBytes) {
  const auto queue = open();
  std::size_t next = 0;
  std::map<std::uint64_t, std::size_t> seen;
  while (next < kPages || !seen.empty()) {
    while (next < kPages) {
      const DirectRead one = read_of(next);
      const auto count = queue->submit({&one, 1});
      ASSERT_TRUE(count.ok());
      if (*count == 0) break;
      seen[next++] = 0;
    }
    std::vector<DirectDone> done(3);
    const auto count = queue->reap(done);
    ASSERT_TRUE(count.ok() && *count > 0);
    for (std::size_t i = 0; i < *count; ++i) {
      EXPECT_EQ(seen.erase(done[i].tag), 1U);
      EXPECT_EQ(done[i].error, 0);
      EXPECT_EQ(done[i].read_bytes, kPage);
      EXPECT_EQ(bytes_of(done[i].tag), text_.substr(done[i].tag * kPage, kPage));
    }
  }
  EXPECT_EQ(testing::fake_cufile::call_count("cuFileHandleRegister"), 1U);
}

TEST_F(GpuReadQueueTest, ItsDepthBoundsTheReadsInFlight) {
  const auto queue = open(3);
  std::vector<DirectRead> reads;
  for (std::size_t page = 0; page < 5; ++page) reads.push_back(read_of(page));
  const auto count = queue->submit(reads);
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(*count, 3U);
  EXPECT_EQ(reap_all(*queue).size(), 3U);
}

TEST_F(GpuReadQueueTest, EndsWithReadsOnTheirWay) {
  const auto queue = open();
  std::vector<DirectRead> reads;
  for (std::size_t page = 0; page < 8; ++page) reads.push_back(read_of(page));
  ASSERT_EQ(*queue->submit(reads), 8U);
}

// The masks of blocked signals of all threads of this process.
std::map<std::string, std::string> blocked_signals() {
  std::map<std::string, std::string> by_thread;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("SigBlk:")) by_thread[thread.path().filename()] = line.substr(8);
    }
  }
  return by_thread;
}

TEST_F(GpuReadQueueTest, ItsThreadsLeaveSignalsToTheProgram) {
  const auto before = blocked_signals();
  const auto queue = open(4);
  std::size_t blocking_count = 0;
  std::size_t other_count = 0;
  // Until all four have begun. A sanitizer may begin threads of its own, which block signals, too.
  for (int i = 0; i < 500 && (blocking_count < 4 || other_count > 0); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    blocking_count = other_count = 0;
    for (const auto& [thread, mask] : blocked_signals()) {
      if (before.contains(thread)) continue;
      const bool blocks_interrupts = (std::stoull(mask, nullptr, 16) & 1U << (SIGINT - 1)) != 0;
      ++(blocks_interrupts ? blocking_count : other_count);
    }
  }
  EXPECT_GE(blocking_count, 4U);
  EXPECT_EQ(other_count, 0U);
}

std::atomic<int> inside_count = 0;

// Ends the process while reads are under way. cuFile ends itself then, as `is_over` stands for.
[[noreturn]] void end_process_while_reading(DirectQueue& queue, std::span<const DirectRead> reads) {
  testing::fake_cufile::reset({.on_read = [](std::uint64_t, ssize_t got) {
    ++inside_count;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    --inside_count;
    return got;
  }});
  (void)queue.submit(reads);
  while (inside_count == 0) std::this_thread::yield();
  std::exit(0);
}

TEST_F(GpuReadQueueTest, TheEndOfTheProcessWaitsForReads) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer makes a failure of threads that nobody joins";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end = [this] {
    // Registered before cuFile is opened, as cuFile's own handlers are, so it runs behind ours.
    std::atexit([] {
      const int count = inside_count;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      std::_Exit(count == 0 && inside_count == 0 ? 0 : 3);
    });
    std::vector<DirectRead> reads;
    for (std::size_t page = 0; page < 8; ++page) reads.push_back(read_of(page));
    end_process_while_reading(*open(2).release(), reads);
  };
  EXPECT_EXIT(end(), ::testing::ExitedWithCode(0), "");
}

TEST_F(GpuReadQueueTest, WhatTheLibraryRefusesIsTheReadsOwnError) {
  testing::fake_cufile::reset({.on_read = [](std::uint64_t nth, ssize_t got) -> ssize_t {
    if (nth == 1) return -5011;
    if (nth == 2) errno = ENODATA;
    if (nth == 2) return -1;
    return nth == 3 ? 100 : got;
  }});
  const auto queue = open(1);
  std::vector<DirectDone> done;
  for (std::size_t page = 0; page < 4; ++page) {
    const DirectRead one = read_of(page);
    ASSERT_EQ(*queue->submit({&one, 1}), 1U);
    for (const DirectDone& of_one : reap_all(*queue)) done.push_back(of_one);
  }
  ASSERT_EQ(done.size(), 4U);
  EXPECT_EQ(done[0].error, EIO);
  EXPECT_EQ(done[1].error, ENODATA);
  EXPECT_EQ(done[2].error, 0);
  EXPECT_EQ(done[2].read_bytes, 100U);
  EXPECT_EQ(done[3].read_bytes, kPage);
}

TEST_F(GpuReadQueueTest, AFileThatTheLibraryRefusesIsNotAskedForAgain) {
  testing::fake_cufile::fail("cuFileHandleRegister", kFileNotSupported);
  const auto queue = open();
  const DirectRead one = read_of(0);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(*queue->submit({&one, 1}), 1U);
    EXPECT_EQ(reap_all(*queue).at(0).error, EIO);
  }
  EXPECT_EQ(testing::fake_cufile::call_count("cuFileHandleRegister"), 1U);
  const auto refused = library()->handle_of(*file_, gpu_);
  EXPECT_THAT(refused.status().message(), HasSubstr("/run/udev"));
  file_ = open_file();
  testing::fake_cufile::reset();
  EXPECT_TRUE(library()->handle_of(*file_, gpu_).ok());
}

TEST_F(GpuReadQueueTest, SaysWhereNothingIsGained) {
  EXPECT_EQ(*library()->copies_through_host(*gpu_), false);
  testing::fake_cufile::reset({.has_direct_path = false});
  EXPECT_EQ(*library()->copies_through_host(*gpu_), true);
  testing::fake_cufile::reset({.has_direct_path = false, .has_peer_to_peer = true});
  EXPECT_EQ(*library()->copies_through_host(*gpu_), false);
  testing::fake_cufile::fail("cuFileDriverGetProperties", 5011);
  EXPECT_EQ(library()->copies_through_host(*gpu_).status().code(), StatusCode::kResource);
}

TEST_F(GpuReadQueueTest, SeveralQueuesShareAFilesHandle) {
  const auto first = open();
  const DirectRead one = read_of(1);
  ASSERT_EQ(*first->submit({&one, 1}), 1U);
  EXPECT_EQ(reap_all(*first).at(0).error, 0);
  const auto handle = library()->handle_of(*file_, gpu_);
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ(testing::fake_cufile::call_count("cuFileHandleRegister"), 1U);
}

TEST_F(GpuReadQueueTest, MemoryThatCannotBePinnedIsAnErrorInWords) {
  testing::fake_cufile::fail("cuFileBufRegister", kMemoryNotPinned);
  const auto queue = GpuReadQueue::open(*library(), gpu_, cells_, 4);
  EXPECT_EQ(queue.status().code(), StatusCode::kResource);
  EXPECT_THAT(queue.status().message(), HasSubstr("BAR1"));
  EXPECT_THAT(queue.status().message(), HasSubstr("error 5036"));
}

TEST_F(GpuReadQueueTest, OtherErrorsHaveTheirNumbers) {
  EXPECT_TRUE(CuFile::check(CallError(), "reading").ok());
  EXPECT_EQ(CuFile::check({.code = 5011, .driver_code = 2}, "reading").message(),
            "reading: cuFile gives error 5011, the NVIDIA driver refused a call (2)");
  EXPECT_EQ(CuFile::check({.code = 5043, .driver_code = 0}, "reading").message(),
            "reading: cuFile gives error 5043");
}

}  // namespace
}  // namespace xtts::cufile
