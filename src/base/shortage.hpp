// Shortages: what the system refuses this process because it has too few descriptors or too little
// memory. Such a failure says nothing of the file that was asked for, so nobody may call that file
// damaged, or reject it. A StatusCode of its own would not tell callers more: all of them end the
// run (kResource).
//
// A count for the whole process, since it began; atomic. Whoever judges a file takes it before and
// after.
#pragma once

#include <cstdint>

namespace xtts {

[[nodiscard]] std::uint64_t shortage_count() noexcept;
// Counts one, where this value of errno is one.
void note_shortage(int error) noexcept;

}  // namespace xtts
