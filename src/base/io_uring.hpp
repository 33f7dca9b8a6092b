// IoUring is a DirectQueue on the kernel's io_uring. It uses raw system calls, not liburing,
// because the reader library depends only on the C++ runtime.
//
// Threads and lifetime: as DirectQueue. Each side owns its end of the two rings and shares only
// their indices with the kernel (release and acquire). A child of fork() does not get the rings.
//
// Failures of open(): kUnsupported with the reason (a kernel before 5.6, a seccomp filter or
// sysctl that forbids it, a too low limit on locked memory). open() sends an empty request through
// the rings, because some filters allow creating them but forbid their use.
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
  // Reads in flight. A read is counted after the kernel has taken it. If it is reaped before that,
  // the count is negative for a moment. So no thread waits for a read that was not taken.
  std::atomic<std::int64_t> on_their_way_ = 0;
};

// Explains an errno of io_uring_setup to a user; pure.
[[nodiscard]] Status why_no_io_uring(int error);

}  // namespace xtts
