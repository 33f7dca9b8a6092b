// Ctrl-C and SIGTERM: the first asks commands to finish what is in hand, the second ends at once.
// Process-wide, because signals are; installed once by main, before it starts a thread.
//
// A thread of its own waits for them, so that no call that blocks elsewhere (a reader that reads
// no further, a file system that does not answer) keeps a signal from being heard. A command that
// has nothing in hand is ended by that thread where it does not end by itself within a second.
#pragma once

namespace xtts::cli {

void install_stop_signals();
// Any thread. Commands hand it to what they call as `cancelled`.
[[nodiscard]] bool stop_requested() noexcept;
// SIGINT or SIGTERM; 0 while none came.
[[nodiscard]] int stop_signal() noexcept;

// While there is one, the command is not ended from outside at the first signal: it changes files.
class WorkInHand {
 public:
  WorkInHand() noexcept;
  ~WorkInHand();
  WorkInHand(const WorkInHand&) = delete;
  WorkInHand& operator=(const WorkInHand&) = delete;
};

}  // namespace xtts::cli
