#include "base/guarded_read.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <mutex>

namespace xtts {
namespace {

// One guarded read, on its thread's stack.
struct GuardedRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  sigjmp_buf way_out;
};

// Initial-exec: each thread has this memory from its start; the handler never makes the loader
// allocate.
__attribute__((tls_model("initial-exec"))) thread_local GuardedRange* volatile guarded = nullptr;
__attribute__((tls_model("initial-exec"))) thread_local volatile std::size_t passing_depth = 0;

// Handlers run with no signal blocked (SA_NODEFER), so there is no mask to restore, which would
// cost a system call per read. The thread sanitizer's handlers block every signal.
#ifdef __SANITIZE_THREAD__
constexpr int kSavesMask = 1;
#else
constexpr int kSavesMask = 0;
#endif

// The handlers that were first before ours, one for each time that ours was put in front. A SIGBUS
// that is not ours goes to the last of them. The handler reads this list without the lock, which
// it must not take. That is safe: the list changes only when another handler was installed before
// ours, and nobody does that while signals arrive.
constexpr std::size_t kPreviousMax = 8;
std::mutex install_mutex;  // guards writing
std::array<struct sigaction, kPreviousMax> previous = {};
std::size_t previous_count = 0;

void end_process() {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  (void)::sigaction(SIGBUS, &standard, nullptr);
  (void)::raise(SIGBUS);
}

void pass_on(int signal, siginfo_t* info, void* context) {
  // A handler that was installed before ours regards ours as its predecessor and calls it. Then
  // the one before that is next. The very first one does not know ours.
  const std::size_t passed = passing_depth;
  const std::size_t depth = std::min(passed, previous_count - 1);
  const struct sigaction& next = previous[previous_count - 1 - depth];
  const bool has_info = (next.sa_flags & SA_SIGINFO) != 0;
  if (!has_info && next.sa_handler == SIG_DFL) return end_process();
  if (!has_info && next.sa_handler == SIG_IGN) {
    // A signal sent by a process may be ignored. A fault may not: it would repeat for ever.
    if (info->si_code > 0) end_process();
    return;
  }
  // If the handler leaves by a jump, this value stays until the next guarded read.
  passing_depth = passed + 1;
  if (has_info) {
    next.sa_sigaction(signal, info, context);
  } else {
    next.sa_handler(signal);
  }
  passing_depth = passed;
}

bool lies_in(const GuardedRange& range, const siginfo_t& info) {
  std::uintptr_t begin = range.begin;
  // For broken memory the kernel may tell only the page, not the address.
  if (info.si_code == BUS_MCEERR_AR) begin &= ~((std::uintptr_t{1} << info.si_addr_lsb) - 1);
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  return info.si_code > 0 && address >= begin && address < range.end;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  GuardedRange* const range = guarded;
  if (range != nullptr && lies_in(*range, *info)) {
    guarded = nullptr;
    siglongjmp(range->way_out, 1);
  }
  pass_on(signal, info, context);
}

}  // namespace

void guard_reads() noexcept {
  sigset_t bus_errors;
  ::sigemptyset(&bus_errors);
  ::sigaddset(&bus_errors, SIGBUS);
  (void)::pthread_sigmask(SIG_UNBLOCK, &bus_errors, nullptr);
  struct sigaction current = {};
  if (::sigaction(SIGBUS, nullptr, &current) != 0) return;
  if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_bus_error) return;
  const std::scoped_lock lock(install_mutex);
  if (::sigaction(SIGBUS, nullptr, &current) != 0) return;
  if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_bus_error) return;
  // If the list is full, a handler in the middle is dropped, never the first.
  previous_count = std::min(previous_count + 1, kPreviousMax);
  previous[previous_count - 1] = current;
  struct sigaction ours = {};
  ours.sa_sigaction = on_bus_error;
  // SA_NODEFER: a guarded read leaves the handler by a jump, and the signal must not stay blocked.
  ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  (void)::sigaction(SIGBUS, &ours, nullptr);
}

void block_process_signals() noexcept {
  sigset_t others;
  ::sigfillset(&others);
  for (const int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
    ::sigdelset(&others, fault);
  }
  (void)::pthread_sigmask(SIG_SETMASK, &others, nullptr);
}

bool guarded_read(std::span<const std::byte> source, GuardedReader reader, void* context) noexcept {
  passing_depth = 0;
  GuardedRange range;
  range.begin = reinterpret_cast<std::uintptr_t>(source.data());
  range.end = range.begin + source.size();
  if (sigsetjmp(range.way_out, kSavesMask) != 0) return false;
  guarded = &range;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  reader(context, source);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  guarded = nullptr;
  return true;
}

bool guarded_copy(std::span<const std::byte> source, std::span<std::byte> out) noexcept {
  const auto copy = [](void* to, std::span<const std::byte> bytes) {
    std::memcpy(to, bytes.data(), bytes.size());
  };
  return guarded_read(source, copy, out.data());
}

}  // namespace xtts
