// WorkBesideGil runs work in a thread of its own, without the GIL. Meanwhile the calling thread
// looks for signals (Ctrl-C) twenty times a second and reports progress to Python. So callbacks run
// in the caller's thread, and no thread of ours ever waits for the GIL.
//
// An exception of a signal or callback stops the work. The work finishes what it has begun; then
// the exception is thrown. The caller holds the GIL at every entry.
#pragma once

#include <atomic>
#include <exception>
#include <functional>

namespace xtts::python {

class WorkBesideGil {
 public:
  // The threads that the work needs, beside the calling one. kOfTools: those of the tools'
  // libraries, which a fork may have interrupted. kOwn: threads that end with the work.
  enum class Threads { kOfTools, kOwn };
  // kUnsupported for kOfTools in the child of a process that has worked with kOfTools: the parent
  // has those threads.
  explicit WorkBesideGil(Threads threads = Threads::kOfTools);
  ~WorkBesideGil();
  WorkBesideGil(const WorkBesideGil&) = delete;
  WorkBesideGil& operator=(const WorkBesideGil&) = delete;

  // True where the work should end. The work asks, in any thread.
  [[nodiscard]] bool is_stopped() const noexcept { return stopped_ || all_stopped; }

  // Runs `work` without the GIL; it throws nothing. Calls `look` with the GIL, and once more when
  // the work has ended.
  void run(const std::function<void()>& work, const std::function<void()>& look);

  // Tells all work to stop, for good. Called when the interpreter ends.
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
