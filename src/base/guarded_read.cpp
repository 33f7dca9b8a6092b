#include "base/guarded_read.hpp"

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <mutex>

namespace xtts {
namespace {

// One read under guard, on its thread's stack.
struct GuardedRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  sigjmp_buf way_out;
};

// In the memory that every thread has from its start: a handler must not make the loader allocate.
__attribute__((tls_model("initial-exec"))) thread_local GuardedRange* volatile guarded = nullptr;
__attribute__((tls_model("initial-exec"))) thread_local volatile bool is_passing_on = false;

// Handlers run with nothing blocked (SA_NODEFER), so there is no mask to put back, which would be a
// system call a read; but those of the thread sanitizer block everything.
#ifdef __SANITIZE_THREAD__
constexpr int kSavesMask = 1;
#else
constexpr int kSavesMask = 0;
#endif

std::mutex install_mutex;        // guards `previous`
struct sigaction previous = {};  // whom a SIGBUS that is not ours belongs to

void end_process() {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  (void)::sigaction(SIGBUS, &standard, nullptr);
  (void)::raise(SIGBUS);
}

// Reads `previous` without the lock, which a handler must not take: it changes only when somebody
// puts a handler in front of ours, and that is not done while signals fly.
void pass_on(int signal, siginfo_t* info, void* context) {
  // Their handler may think ours was there before it, and call us again.
  const bool asks_in_a_circle = is_passing_on;
  const bool ignores = (previous.sa_flags & SA_SIGINFO) == 0 && previous.sa_handler == SIG_IGN;
  const bool has_none = (previous.sa_flags & SA_SIGINFO) == 0 && previous.sa_handler == SIG_DFL;
  if (asks_in_a_circle || has_none) return end_process();
  if (ignores) {
    // A signal that somebody sent may be ignored, a fault may not: it would come again for ever.
    if (info->si_code > 0) end_process();
    return;
  }
  is_passing_on = true;
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else {
    previous.sa_handler(signal);
  }
  is_passing_on = false;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  GuardedRange* const range = guarded;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (range != nullptr && info->si_code > 0 && address >= range->begin && address < range->end) {
    guarded = nullptr;
    siglongjmp(range->way_out, 1);
  }
  pass_on(signal, info, context);
}

struct Copy {
  std::byte* out;
};

void copy_bytes(void* context, std::span<const std::byte> source) {
  std::memcpy(static_cast<Copy*>(context)->out, source.data(), source.size());
}

}  // namespace

void guard_reads() noexcept {
  struct sigaction current = {};
  if (::sigaction(SIGBUS, nullptr, &current) != 0) return;
  if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_bus_error) return;
  const std::scoped_lock lock(install_mutex);
  if (::sigaction(SIGBUS, nullptr, &current) != 0) return;
  if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_bus_error) return;
  previous = current;
  struct sigaction ours = {};
  ours.sa_sigaction = on_bus_error;
  // SA_NODEFER: the way out leaves the handler by a jump, and the signal must not stay blocked.
  ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  (void)::sigaction(SIGBUS, &ours, nullptr);
}

bool guarded_read(std::span<const std::byte> source, GuardedReader reader, void* context) noexcept {
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
  Copy copy{out.data()};
  return guarded_read(source, copy_bytes, &copy);
}

}  // namespace xtts
