// How often this process has been forked off another since it first asked. What threads of the
// parent held (locks, work in hand) is held for ever in the child: who owns threads remembers the
// number, and where it has changed leaves them alone.
#pragma once

#include <cstdint>

namespace xtts {

// Synchronised inside; never fails. Costs a load after the first call.
[[nodiscard]] std::uint32_t fork_count() noexcept;

}  // namespace xtts
