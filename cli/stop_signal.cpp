#include "cli/stop_signal.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <string_view>

namespace xtts::cli {
namespace {

// A signal handler may touch only lock-free atomics.
std::atomic<int> received{0};
std::atomic<int> graceful_stop_count{0};
static_assert(std::atomic<int>::is_always_lock_free);

// The stack of the waiting thread, which calls nothing that needs more.
constexpr std::size_t kStackBytes = std::size_t{256} << 10U;
constexpr timespec kGrace{.tv_sec = 0, .tv_nsec = 700'000'000};

sigset_t waited_for;

extern "C" void on_stop_signal(int signal) {
  if (received.exchange(signal) != 0) ::_exit(128 + signal);
}

[[noreturn]] void end_at_once(int signal) {
  constexpr std::string_view kSaid = "xtts-precompute: stopped by a signal\n";
  (void)!::write(STDERR_FILENO, kSaid.data(), kSaid.size());
  ::_exit(128 + signal);
}

extern "C" void* wait_for_stop_signals(void*) {
  int first = 0;
  while (::sigwait(&waited_for, &first) != 0) {
  }
  received = first;
  for (;;) {
    const int second = ::sigtimedwait(&waited_for, nullptr, &kGrace);
    if (second > 0) ::_exit(128 + second);
    if (graceful_stop_count == 0) end_at_once(first);
  }
}

bool start_thread() {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return false;
  pthread_t thread{};
  const bool is_started =
      ::pthread_attr_setstacksize(&attributes, kStackBytes) == 0 &&
      ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
      ::pthread_create(&thread, &attributes, wait_for_stop_signals, nullptr) == 0;
  (void)::pthread_attr_destroy(&attributes);
  return is_started;
}

}  // namespace

void install_stop_signals() {
  sigemptyset(&waited_for);
  bool waits_for_any = false;
  struct sigaction action {};
  action.sa_handler = on_stop_signal;  // where there can be no thread; calls that block are not
  sigemptyset(&action.sa_mask);        // made again
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // A parent that started us with the signal ignored (nohup, a background job) meant it.
    struct sigaction before {};
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    ::sigaction(signal, &action, nullptr);
    sigaddset(&waited_for, signal);
    waits_for_any = true;
  }
  // If our parent left SIGCHLD ignored, the system could give an ended decoder's number to another
  // process before we wait for it. We would then kill that process.
  std::signal(SIGCHLD, SIG_DFL);
  sigset_t before;
  if (!waits_for_any || ::pthread_sigmask(SIG_BLOCK, &waited_for, &before) != 0) return;
  if (!start_thread()) (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool stop_requested() noexcept {
  return received.load(std::memory_order_relaxed) != 0;
}

int stop_signal() noexcept {
  return received.load(std::memory_order_relaxed);
}

GracefulStopScope::GracefulStopScope() noexcept {
  ++graceful_stop_count;
}
GracefulStopScope::~GracefulStopScope() {
  --graceful_stop_count;
}

}  // namespace xtts::cli
