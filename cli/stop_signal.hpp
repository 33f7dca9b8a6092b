// Ctrl-C, SIGTERM and SIGHUP (a terminal that closes). The first signal asks commands to finish the
// work in hand; the second ends the program at once. The state is process-wide, because signals
// are. main installs it once, before it starts a thread.
//
// A separate thread waits for signals. So a blocking call elsewhere (a reader that reads no
// further, a file system that does not answer) cannot hide a signal. If a command has no work in
// hand and does not end within a second, that thread ends the program.
#pragma once

namespace xtts::cli {

void install_stop_signals();
// Any thread may call this. Commands pass it on as `cancelled`.
[[nodiscard]] bool stop_requested() noexcept;
// Returns SIGINT, SIGTERM or SIGHUP; 0 before a signal.
[[nodiscard]] int stop_signal() noexcept;

// While a GracefulStopScope exists, the first signal does not end the command from outside:
// the command is changing files.
class GracefulStopScope {
 public:
  GracefulStopScope() noexcept;
  ~GracefulStopScope();
  GracefulStopScope(const GracefulStopScope&) = delete;
  GracefulStopScope& operator=(const GracefulStopScope&) = delete;
};

}  // namespace xtts::cli
