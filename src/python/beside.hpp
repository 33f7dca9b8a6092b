// Work without the GIL in a thread of its own, while the calling thread stays Python's: twenty
// times a second it looks for signals (Ctrl-C) and tells Python what the work has come to. So
// callbacks run where the caller's code does, and nothing of ours ever waits for the GIL.
//
// A signal's or callback's exception stops the work and is thrown when the work has ended, having
// finished what was in hand. The GIL is held at every entry.
#pragma once

#include <atomic>
#include <exception>
#include <functional>

namespace xtts::python {

class Beside {
 public:
  // Whose threads the work needs beside the calling one's: the tools', whose libraries a fork may
  // have met in the middle of work, or such as end with it.
  enum class Threads { kOfTools, kOwn };
  // kUnsupported in the child of a process that has worked with kOfTools: those threads are the
  // parent's.
  explicit Beside(Threads threads = Threads::kOfTools);
  ~Beside();
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  // For the work, in any thread: it should end.
  [[nodiscard]] bool is_stopped() const noexcept { return stopped_ || all_stopped; }

  // `work` has no GIL, and throws nothing; `look` has it, and comes once more when work has ended.
  void run(const std::function<void()>& work, const std::function<void()>& look);

  // At the interpreter's end: all work is to stop, and none begins.
  static void stop_all() noexcept { all_stopped = true; }
  [[nodiscard]] static unsigned running_count() noexcept { return running; }

 private:
  static void check_and_note_process();
  void look_at_signals_and(const std::function<void()>& look) noexcept;

  static inline std::atomic<bool> all_stopped = false;
  static inline std::atomic<unsigned> running = 0;

  std::atomic<bool> stopped_ = false;
  std::exception_ptr failure_;
};

}  // namespace xtts::python
