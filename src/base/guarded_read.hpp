// Guarded reads of mapped files. A page that the kernel cannot provide raises SIGBUS in the thread
// that touches it; these functions return false instead.
//
// The process gets one SIGBUS handler. It passes a SIGBUS that no guarded read caused to the
// previous handler, or ends the process as usual. Any number of threads; reading allocates and
// locks nothing. `source` is mapped memory, `out` is ordinary memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace xtts {

// Puts our handler first, also before a handler that was installed since. Call it before each
// series of reads. It makes two system calls if our handler is first already. It also unblocks
// SIGBUS in this thread, because a fault whose signal is blocked ends the process.
void guard_reads() noexcept;

// Blocks signals in one of our threads within a host process. Signals for the process then go to
// the host's own threads, whose handlers do not expect ours.
void block_process_signals() noexcept;

// `out` is as long as `source`. False: a part could not be read; `out` is undefined.
[[nodiscard]] bool guarded_copy(std::span<const std::byte> source,
                                std::span<std::byte> out) noexcept;

// A custom reader of a source, called with `context` and the source. At a missing page we leave it
// in the middle by a jump. So it must own nothing that needs release: no locks, no destructors.
using GuardedReader = void (*)(void* context, std::span<const std::byte> source);
[[nodiscard]] bool guarded_read(std::span<const std::byte> source, GuardedReader reader,
                                void* context) noexcept;

}  // namespace xtts
