// Reading of mapped files without dying of them. A page that the kernel cannot provide raises
// SIGBUS in the thread that touches it; these functions turn that into `false`.
//
// The process gets one SIGBUS handler, installed at the first call and put back in front whenever
// somebody else has put theirs there. A SIGBUS that none of these reads caused goes on to the
// handler that was there before, or ends the process as ever. Any number of threads; nothing is
// allocated or locked. `source` is mapped memory, `out` is ordinary memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace xtts {

// `out` is as long as `source`. False: not all of it could be read; `out` holds something.
[[nodiscard]] bool guarded_copy(std::span<const std::byte> source,
                                std::span<std::byte> out) noexcept;

// Any other reader of a source: called with `context` and the source, it is left in the middle
// where a page is missing. So it must own nothing that needs giving back: no locks, no destructors.
using GuardedReader = void (*)(void* context, std::span<const std::byte> source);
[[nodiscard]] bool guarded_read(std::span<const std::byte> source, GuardedReader reader,
                                void* context) noexcept;

}  // namespace xtts
