// The rights that a worker process gives up before it sees a file. It cannot get them back. This
// holds for the whole process, which has one thread.
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

// Closes the descriptors above `descriptor_max` and leaves the terminal and its signals. From then
// on the process ends within about a second when its parent is gone, whatever a codec is doing.
void detach_from_parent(int descriptor_max);

// Allows at most `memory_bytes` of memory beyond the present mappings; no more files, sockets,
// programs or processes.
void confine(std::uint64_t memory_bytes);

}  // namespace xtts::decode_worker::detail
