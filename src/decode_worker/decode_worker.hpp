// The worker's side of a contained decoder: a loop that decodes what the parent asks for.
//
// For a process of its own: before the first clip it gives up files, signals, further system calls
// and memory beyond the parent's limit, for good. It reads sources only by asking the parent. Ends
// with 0 when the parent closes the socket, with 1 when the descriptors are not what a parent hands
// over. Any AudioDecoder may crash, spin or exit in it.
#pragma once

#include "audio/audio_decoder.hpp"

namespace xtts::decode_worker {

// Where make_contained_decoder puts the two descriptors.
constexpr int kWorkerSocket = 3;
constexpr int kWorkerMemory = 4;

[[nodiscard]] int run_decode_worker(int socket_fd, int memory_fd, audio::AudioDecoder& decoder);

}  // namespace xtts::decode_worker
