// IoUring: a DirectQueue on the kernel's io_uring, by raw system calls: the reader library depends
// on nothing but the C++ runtime, so not on liburing.
//
// Threads and lifetime: as DirectQueue; each side owns its own end of the two rings, and their
// indices are what it shares with the kernel (release and acquire). A child of fork() does not get
// the rings. Failures of open(): kUnsupported, saying why (a kernel before 5.6, a seccomp filter or
// sysctl that forbids it, a limit on locked memory that is too low). It has sent an empty request
// through the rings by then: some filters allow making what they forbid to use.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/direct_reads.hpp"

namespace xtts {

class IoUring final : public DirectQueue {
 public:
  [[nodiscard]] static Result<std::unique_ptr<IoUring>> open(std::uint32_t depth);
  ~IoUring() override;
  IoUring(const IoUring&) = delete;
  IoUring& operator=(const IoUring&) = delete;

  [[nodiscard]] Result<std::size_t> submit(std::span<const DirectRead> reads) override;
  [[nodiscard]] Result<std::size_t> reap(std::span<DirectDone> done) override;

 private:
  struct Rings;
  explicit IoUring(std::unique_ptr<Rings> rings) noexcept;
  [[nodiscard]] Status try_out();
  [[nodiscard]] Result<std::size_t> hand_over(std::uint32_t count);
  std::size_t take_done(std::span<DirectDone> done);

  std::unique_ptr<Rings> rings_;
  // Counted when the kernel has taken them, so for a moment less than nothing where they were
  // reaped before that: who waits because of it never waits for what was not taken.
  std::atomic<std::int64_t> on_their_way_ = 0;
};

// What an errno of io_uring_setup means to a user; pure.
[[nodiscard]] Status why_no_io_uring(int error);

}  // namespace xtts
