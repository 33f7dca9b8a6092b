#include "python/beside.hpp"

#include <nanobind/nanobind.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "python/errors.hpp"
#include "python/fork.hpp"
#include "python/gil.hpp"

namespace xtts::python {
namespace {

constexpr std::chrono::milliseconds kLook{50};

// Keeps Python's signals from our threads and from threads that they start: a handler would
// interrupt their system calls. Signals of a thread's own faults (SIGSEGV) still reach it.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t wanted;
    sigfillset(&wanted);
    for (const int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
      sigdelset(&wanted, fault);
    ::pthread_sigmask(SIG_BLOCK, &wanted, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

// The fork count of the process that first worked with the tools' threads.
std::optional<std::uint32_t> first_fork_count;

}  // namespace

WorkBesideGil::WorkBesideGil(Threads threads) {
  if (threads == Threads::kOfTools) check_and_note_process();
  ++running;
}

void WorkBesideGil::check_and_note_process() {
  if (first_fork_count.value_or(fork_count()) != fork_count()) {
    throw StatusError(Status(StatusCode::kUnsupported,
                             "this process was forked from one that has built or verified: use the "
                             "\"spawn\" start method, or run xtts-precompute"));
  }
  first_fork_count = fork_count();
}

WorkBesideGil::~WorkBesideGil() {
  --running;
}

void WorkBesideGil::look_at_signals_and(const std::function<void()>& look) noexcept {
  try {
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    look();
  } catch (...) {
    if (!failure_) failure_ = std::current_exception();
    stopped_ = true;
  }
}

void WorkBesideGil::run(const std::function<void()>& work, const std::function<void()>& look) {
  std::mutex mutex;
  std::condition_variable ended_changed;
  bool has_ended = false;
  std::thread thread;
  try {
    const SignalsBlocked inherited;
    thread = std::thread([&] {
      work();
      const std::lock_guard lock(mutex);
      has_ended = true;
      ended_changed.notify_one();
    });
  } catch (const std::system_error& error) {
    throw StatusError(Status(StatusCode::kResource, std::string("a thread: ") + error.what()));
  }
  const auto wait = [&] {
    const GilRelease released;
    std::unique_lock lock(mutex);
    return ended_changed.wait_for(lock, kLook, [&] { return has_ended; });
  };
  // After a failure nothing more is reported. A second Ctrl-C is still handled.
  while (!wait()) look_at_signals_and(failure_ ? std::function<void()>([] {}) : look);
  thread.join();
  if (!failure_) look_at_signals_and(look);
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace xtts::python
