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

// How much processor time the decoding of one source may take. Far above what any honest file of
// that size needs, for a slow machine too: who meets the limit is in a loop. Monkey's Audio at its
// slowest setting takes 1.2 s a MiB; an hour of silence may be 30 kB of FLAC and takes seconds.
struct CpuLimit {
  std::chrono::nanoseconds base = std::chrono::seconds(30);
  std::chrono::nanoseconds per_mib = std::chrono::seconds(10);
  // For each second of sound that the source could hold at the thinnest coding there is.
  std::chrono::nanoseconds per_source_second = std::chrono::milliseconds(20);
  double source_bytes_per_second_min = 8.0;
};

[[nodiscard]] std::chrono::nanoseconds cpu_time_max(const CpuLimit& limit,
                                                    std::uint64_t source_bytes,
                                                    double source_seconds_max);

// The libraries of the first worker of a run. Synchronised inside; shared by its decoders, so that
// all of a run's sound comes from the same ones.
class FirstLibraries {
 public:
  // kMismatch where `libraries` are others than the first that were told.
  [[nodiscard]] Status check(const std::string& libraries);

 private:
  std::mutex mutex_;
  std::string first_;
};

struct ContainedOptions {
  // Program and arguments, by path; it calls run_decode_worker(kWorkerSocket, kWorkerMemory, ...).
  std::vector<std::string> command;
  // Of memory in the worker, private or shared. It holds no sound but the piece in hand: a bound
  // for codecs and containers alone. The same for all builds, or their memory would decide which
  // clips fail.
  std::uint64_t memory_bytes = std::uint64_t{512} << 20U;
  CpuLimit cpu_limit = {};
  // A worker that is idle for so long in all, while its clip waits for it, is given up, but that
  // proves nothing about the clip: kSourceIo. So a clip takes no longer than this, its processor
  // time, and the time in which its worker waits for a processor, or for us. Time in which we are
  // stopped does not count.
  std::chrono::milliseconds idle_time_max = std::chrono::minutes(10);
  // Asked about once a second of waiting: true ends the worker and the call, with kCancelled.
  std::function<bool()> cancelled = {};
  // Null: whatever libraries a worker has.
  std::shared_ptr<FirstLibraries> first_libraries = {};
};

[[nodiscard]] std::unique_ptr<audio::AudioDecoder> make_contained_decoder(ContainedOptions options);

// Decoders that work in processes of `program`: xtts-decode, by its path. Where it is replaced
// while they work by one with other libraries, they fail with kMismatch.
[[nodiscard]] audio::MakeDecoder contained_in(std::string program);

}  // namespace xtts::decode_worker
