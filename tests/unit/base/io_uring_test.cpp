#include "base/io_uring.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/env.hpp"
#include "support/forbidden_call.hpp"
#include "support/temp_folder.hpp"

namespace xtts {
namespace {

constexpr std::size_t kPiece = 8192;
constexpr std::size_t kPieces = 40;

struct FreeMemory {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<std::byte[], FreeMemory>;
AlignedMemory aligned_memory(std::size_t size_bytes) {
  return AlignedMemory(static_cast<std::byte*>(std::aligned_alloc(4096, size_bytes)));
}

// A file whose pieces are told apart by their bytes; it ends 100 bytes into the last one.
class DirectFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string text;
    for (std::size_t i = 0; i < kPieces; ++i) text.append(kPiece, static_cast<char>('!' + i));
    text.append(100, 'e');
    folder_.write("file", text);
    auto opened = Env::real().open_for_read(folder_.path() + "/file");
    ASSERT_TRUE(opened.ok());
    auto direct = (*opened)->open_direct();
    if (direct.status().code() == StatusCode::kUnsupported) {
      GTEST_SKIP() << "SKIPPED: this file system cannot read past the page cache";
    }
    ASSERT_TRUE(direct.ok()) << direct.status().message();
    file_ = std::move(*direct);
  }

  [[nodiscard]] std::unique_ptr<IoUring> open_ring(std::uint32_t depth) {
    auto ring = IoUring::open(depth);
    if (ring.ok()) return std::move(*ring);
    EXPECT_EQ(ring.status().code(), StatusCode::kUnsupported) << ring.status().message();
    return nullptr;
  }

  testing::TempFolder folder_;
  std::shared_ptr<const DirectFile> file_;
};

#define XTTS_NEEDS_RING(ring) \
  if (ring == nullptr) GTEST_SKIP() << "SKIPPED: io_uring cannot be used here"

TEST_F(DirectFileTest, AlignmentIsAPowerOfTwo) {
  const std::uint32_t bytes = file_->alignment_bytes();
  EXPECT_GE(bytes, 1U);
  EXPECT_EQ(bytes & (bytes - 1), 0U);
}

// With O_NONBLOCK io_uring gives up where it would have to wait, or waits while it submits.
TEST_F(DirectFileTest, ReadsMayWaitForTheDisk) {
  const int flags = ::fcntl(file_->descriptor(), F_GETFL);
  ASSERT_GE(flags, 0);
  EXPECT_EQ(flags & O_NONBLOCK, 0);
  EXPECT_NE(flags & O_DIRECT, 0);
}

TEST_F(DirectFileTest, EveryReadComesBackOnceWithItsBytes) {
  const auto ring = open_ring(8);
  XTTS_NEEDS_RING(ring);
  const AlignedMemory memory = aligned_memory(kPiece * kPieces);
  std::set<std::uint64_t> seen;
  std::size_t next = 0;
  while (seen.size() < kPieces) {
    std::vector<DirectRead> reads;
    for (std::size_t i = next; i < kPieces; ++i) {
      reads.push_back({file_.get(), i * kPiece, {memory.get() + i * kPiece, kPiece}, i});
    }
    const auto begun = ring->submit(reads);
    ASSERT_TRUE(begun.ok()) << begun.status().message();
    EXPECT_LE(*begun, 8U) << "no more than the queue's depth";
    next += *begun;
    std::array<DirectDone, 3> done;
    const auto count = ring->reap(done);
    ASSERT_TRUE(count.ok()) << count.status().message();
    ASSERT_GE(*count, 1U);
    for (std::size_t i = 0; i < *count; ++i) {
      EXPECT_EQ(done[i].error, 0);
      EXPECT_EQ(done[i].read_bytes, kPiece);
      EXPECT_TRUE(seen.insert(done[i].tag).second);
      const std::byte* const piece = memory.get() + done[i].tag * kPiece;
      EXPECT_TRUE(std::all_of(piece, piece + kPiece, [&](std::byte byte) {
        return byte == static_cast<std::byte>('!' + done[i].tag);
      }));
    }
  }
  DirectDone none;
  EXPECT_EQ(ring->reap({&none, 1}).value(), 0U) << "nothing is on its way: no waiting";
}

TEST_F(DirectFileTest, EndOfTheFileIsAShortReadAndBehindItIsNothing) {
  const auto ring = open_ring(4);
  XTTS_NEEDS_RING(ring);
  const AlignedMemory memory = aligned_memory(2 * kPiece);
  const std::vector<DirectRead> reads = {
      {file_.get(), kPieces * kPiece, {memory.get(), kPiece}, 1},
      {file_.get(), (kPieces + 1) * kPiece, {memory.get() + kPiece, kPiece}, 2}};
  ASSERT_EQ(ring->submit(reads).value(), 2U);
  for (std::size_t seen = 0; seen < 2;) {
    std::array<DirectDone, 2> done;
    const std::size_t count = ring->reap(done).value();
    ASSERT_GE(count, 1U);
    for (std::size_t i = 0; i < count; ++i, ++seen) {
      EXPECT_EQ(done[i].error, 0);
      EXPECT_EQ(done[i].read_bytes, done[i].tag == 1 ? 100U : 0U);
    }
  }
}

TEST_F(DirectFileTest, ReadThatCannotBeIsItsOwnErrorAndNotTheQueues) {
  const auto ring = open_ring(4);
  XTTS_NEEDS_RING(ring);
  const DirectFile nowhere(::open("/", O_RDONLY | O_CLOEXEC), 4096);  // a folder
  const AlignedMemory memory = aligned_memory(kPiece);
  const DirectRead bad{&nowhere, 0, {memory.get(), kPiece}, 7};
  ASSERT_EQ(ring->submit({&bad, 1}).value(), 1U);
  DirectDone done;
  ASSERT_EQ(ring->reap({&done, 1}).value(), 1U);
  EXPECT_EQ(done.tag, 7U);
  EXPECT_EQ(done.error, EISDIR);
  const DirectRead good{file_.get(), 0, {memory.get(), kPiece}, 8};
  ASSERT_EQ(ring->submit({&good, 1}).value(), 1U);
  ASSERT_EQ(ring->reap({&done, 1}).value(), 1U);
  EXPECT_EQ(done.read_bytes, kPiece);
}

TEST_F(DirectFileTest, OneThreadSubmitsWhileAnotherReaps) {
  const auto ring = open_ring(4);
  XTTS_NEEDS_RING(ring);
  constexpr std::uint64_t kReads = 500;
  const AlignedMemory memory = aligned_memory(kPiece * 8);
  std::thread submitter([&] {
    for (std::uint64_t i = 0; i < kReads;) {
      const DirectRead read{
          file_.get(), i % kPieces * kPiece, {memory.get() + i % 8 * kPiece, kPiece}, i};
      const auto begun = ring->submit({&read, 1});
      ASSERT_TRUE(begun.ok());
      i += *begun;
      if (*begun == 0) std::this_thread::yield();
    }
  });
  std::set<std::uint64_t> seen;
  while (seen.size() < kReads) {
    DirectDone done;
    const auto count = ring->reap({&done, 1});
    ASSERT_TRUE(count.ok());
    if (*count == 0) {
      std::this_thread::yield();
      continue;
    }
    EXPECT_EQ(done.read_bytes, kPiece);
    EXPECT_TRUE(seen.insert(done.tag).second);
  }
  submitter.join();
}

TEST(IoUring, ForbiddenIsUnsupportedInWords) {
  for (const long call : {__NR_io_uring_setup, __NR_io_uring_enter}) {
    const bool could = testing::run_without_system_call(call, [] {
      const auto refused = IoUring::open(8);
      ASSERT_FALSE(refused.ok());
      EXPECT_EQ(refused.status().code(), StatusCode::kUnsupported);
      EXPECT_NE(refused.status().message().find("io_uring"), std::string::npos);
      EXPECT_EQ(Env::real().open_direct_queue(8).status().code(), StatusCode::kUnsupported);
    });
    if (!could) GTEST_SKIP() << "SKIPPED: this system takes no seccomp filter from us";
  }
}

TEST(IoUring, EachRefusalSaysWhatToDo) {
  for (const int error : {ENOSYS, EPERM, EACCES, ENOMEM, EINVAL}) {
    EXPECT_EQ(why_no_io_uring(error).code(), StatusCode::kUnsupported);
  }
  EXPECT_NE(why_no_io_uring(EPERM).message().find("seccomp"), std::string::npos);
  EXPECT_NE(why_no_io_uring(ENOMEM).message().find("ulimit -l"), std::string::npos);
}

TEST(IoUring, OpenedAndClosedManyTimesKeepsNoDescriptors) {
  for (int i = 0; i < 2000; ++i) {
    const auto ring = IoUring::open(4);
    if (!ring.ok()) GTEST_SKIP() << "SKIPPED: " << ring.status().message();
  }
}

TEST(DirectFiles, OtherEnvironmentsHaveNone) {
  class Plain final : public RandomAccessFile {
    [[nodiscard]] std::uint64_t size_bytes() const override { return 0; }
    [[nodiscard]] Result<std::size_t> read_at(std::uint64_t, std::span<std::byte>) const override {
      return std::size_t{0};
    }
  };
  EXPECT_EQ(Plain().open_direct().status().code(), StatusCode::kUnsupported);
}

TEST(DirectFiles, FileReplacedMeanwhileIsNotReadInItsPlace) {
  const testing::TempFolder folder;
  folder.write("file", "one");
  const auto file = Env::real().open_for_read(folder.path() + "/file");
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(::rename((folder.path() + "/file").c_str(), (folder.path() + "/old").c_str()), 0);
  folder.write("file", "two");
  const auto direct = (*file)->open_direct();
  EXPECT_FALSE(direct.ok());
}

}  // namespace
}  // namespace xtts
