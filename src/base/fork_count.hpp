// Counts the forks between this process and the one that first called fork_count(). In a forked
// child, everything that the parent's threads held (locks, work in hand) is held for ever. So an
// owner of threads remembers the count and, if it has changed, leaves the threads alone.
#pragma once

#include <cstdint>

namespace xtts {

// Synchronised inside; never fails. Costs a load after the first call.
[[nodiscard]] std::uint32_t fork_count() noexcept;

}  // namespace xtts
