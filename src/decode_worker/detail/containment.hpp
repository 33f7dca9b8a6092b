// What a worker process gives up before it meets a file. Not to be taken back; for the whole
// process, which has one thread.
#pragma once

#include <cstdint>

namespace xtts::decode_worker::detail {

// Sanitizers need much memory and files of their own: under them a worker has no limit of memory
// and no list of system calls.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif
#else
constexpr bool kIsSanitized = false;
#endif

// Closes what lies above `descriptor_max`, turns away from the terminal and its signals, and ends
// the process within a second or so when its parent is gone, whatever a codec is doing then.
void leave_the_parents_world(int descriptor_max);

// At most `memory_bytes` of memory beyond what is mapped already; no more files, sockets, programs
// or processes.
void confine(std::uint64_t memory_bytes);

}  // namespace xtts::decode_worker::detail
