// make_contained_decoder: an AudioDecoder whose codecs work in a process of their own, so that
// their crash, endless loop or hunger for memory costs one clip and not the run.
//
// One decoder owns one worker process, started when it is first asked, kept from clip to clip,
// replaced when it has died. Results, facts and messages are those of the decoder inside. Beyond
// its failures:
//   kCrashed    the worker crashed, sent nonsense, or used up the processor time that its clip is
//               worth: "its decoder crashed (SIGSEGV)"
//   kBadInput   "needs more than 512 MiB to decode"
//   kSourceIo   the worker was killed from outside, as the system does when memory runs out, or
//               stood still
//   kResource, kInternal   no worker can be started; the message names the command
// One thread at a time, like every decoder. README.md says how it works.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "audio/audio_decoder.hpp"

namespace xtts::decode_worker {

// How much processor time the decoding of one source may take. It is far above the need of any
// honest file of that size, also on a slow machine, so a worker that reaches it is in a loop.
// Monkey's Audio at its slowest setting takes 1.2 s a MiB; an hour of silence may be 30 kB of FLAC
// and takes seconds.
struct CpuLimit {
  std::chrono::nanoseconds base = std::chrono::seconds(30);
  std::chrono::nanoseconds per_mib = std::chrono::seconds(10);
  // For each second of sound that the source could hold in the thinnest coding.
  std::chrono::nanoseconds per_source_second = std::chrono::milliseconds(20);
  double source_bytes_per_second_min = 8.0;
};

[[nodiscard]] std::chrono::nanoseconds cpu_time_max(const CpuLimit& limit,
                                                    std::uint64_t source_bytes,
                                                    double source_seconds_max);

// The libraries of a run's first worker. Synchronised inside. All decoders of a run share it, so
// that all of the run's sound comes from the same libraries.
class FirstLibraries {
 public:
  // kMismatch if `libraries` differ from those of the first call.
  [[nodiscard]] Status check(const std::string& libraries);

 private:
  std::mutex mutex_;
  std::string first_;
};

struct ContainedOptions {
  // Program and arguments; the program's path comes first. It calls
  // run_decode_worker(kWorkerSocket, kWorkerMemory, ...).
  std::vector<std::string> command;
  // The worker's limit of memory, private or shared. The worker holds no sound except the present
  // piece, so only codecs and containers need this memory. It is the same for all builds: otherwise
  // their memory would decide which clips fail.
  std::uint64_t memory_bytes = std::uint64_t{512} << 20U;
  CpuLimit cpu_limit = {};
  // The longest total time that a worker may be idle while its clip waits. Then the worker is given
  // up with kSourceIo, for this proves nothing about the clip. So a clip takes at most this time,
  // its processor time, and the time in which its worker waits for a processor or for us. Time in
  // which we are stopped does not count.
  std::chrono::milliseconds idle_time_max = std::chrono::minutes(10);
  // Called about once a second of waiting. True ends the worker and the call, with kCancelled.
  std::function<bool()> cancelled = {};
  // Null: any libraries are accepted.
  std::shared_ptr<FirstLibraries> first_libraries = {};
};

[[nodiscard]] std::unique_ptr<audio::AudioDecoder> make_contained_decoder(ContainedOptions options);

// Makes decoders that work in processes of `program`: xtts-decode, by its path. If the program is
// replaced meanwhile by one with other libraries, they fail with kMismatch.
[[nodiscard]] audio::MakeDecoder contained_in(std::string program);

}  // namespace xtts::decode_worker
