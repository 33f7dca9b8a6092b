// Reading of mapped files without dying of them. A page that the kernel cannot provide raises
// SIGBUS in the thread that touches it; these functions turn that into `false`.
//
// The process gets one SIGBUS handler. A SIGBUS that none of these reads caused goes on to the
// handler that was there before, or ends the process as ever. Any number of threads; reading
// allocates and locks nothing. `source` is mapped memory, `out` is ordinary memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace xtts {

// Puts the handler in front, also of one that somebody else has installed since: to be called
// before every bout of reading. Two system calls where it is in front already. Also lets this
// thread have SIGBUS: a fault whose signal is blocked ends the process.
void guard_reads() noexcept;

// For threads of ours in somebody else's process: signals that are meant for the process go to its
// own threads, whose handlers were not made for ours.
void leave_signals_to_others() noexcept;

// `out` is as long as `source`. False: not all of it could be read; `out` holds something.
[[nodiscard]] bool guarded_copy(std::span<const std::byte> source,
                                std::span<std::byte> out) noexcept;

// Any other reader of a source: called with `context` and the source, it is left in the middle
// where a page is missing. So it must own nothing that needs giving back: no locks, no destructors.
using GuardedReader = void (*)(void* context, std::span<const std::byte> source);
[[nodiscard]] bool guarded_read(std::span<const std::byte> source, GuardedReader reader,
                                void* context) noexcept;

}  // namespace xtts
