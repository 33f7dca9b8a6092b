// Ctrl-C and SIGTERM: the first asks commands to finish what is in hand, the second ends at once.
// Process-wide, because signals are; installed once by main.
#pragma once

namespace xtts::cli {

void install_stop_signals();
// Any thread. Commands hand it to what they call as `cancelled`.
[[nodiscard]] bool stop_requested() noexcept;
// SIGINT or SIGTERM; 0 while none came.
[[nodiscard]] int stop_signal() noexcept;

}  // namespace xtts::cli
