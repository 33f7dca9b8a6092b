// The worker's side of a contained decoder: a loop that decodes what the parent asks for.
//
// It needs a process of its own. Before the first clip it gives up for good: files, signals,
// further system calls, and memory beyond the parent's limit. It reads sources only by asking the
// parent. It returns 0 when the parent closes the socket, and 1 if the descriptors are not those of
// a parent. Any AudioDecoder may crash, spin or exit in it.
#pragma once

#include "audio/audio_decoder.hpp"

namespace xtts::decode_worker {

// The numbers under which make_contained_decoder passes the two descriptors.
constexpr int kWorkerSocket = 3;
constexpr int kWorkerMemory = 4;

[[nodiscard]] int run_decode_worker(int socket_fd, int memory_fd, audio::AudioDecoder& decoder);

}  // namespace xtts::decode_worker
