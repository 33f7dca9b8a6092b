#include "cli/stop_signal.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace xtts::cli {
namespace {

// Lock-free, which is what a signal handler may touch.
std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_stop_signal(int signal) {
  if (received.exchange(signal) != 0) ::_exit(128 + signal);
}

}  // namespace

void install_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) {
    // Whoever started us with the signal ignored (nohup, a background job) meant it.
    struct sigaction before {};
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    ::sigaction(signal, &action, nullptr);
  }
  // Ignored by whoever started us, a decoder's number would be given to another process before it is
  // waited for, and killed there.
  std::signal(SIGCHLD, SIG_DFL);
}

bool stop_requested() noexcept {
  return received.load(std::memory_order_relaxed) != 0;
}

int stop_signal() noexcept {
  return received.load(std::memory_order_relaxed);
}

}  // namespace xtts::cli
