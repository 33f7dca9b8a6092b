// WorkerProcess: one worker, from posix_spawn to waitpid. Killed and reaped when destroyed. One
// thread at a time; not necessarily the one that started it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode_worker/detail/channel.hpp"
#include "decode_worker/detail/shared_memory.hpp"
#include "xtts/status.hpp"

namespace xtts::decode_worker::detail {

// "the decoder's worker (/usr/libexec/xtts-precompute/xtts-decode)".
[[nodiscard]] std::string worker_name(const std::vector<std::string>& command);

// How long this thread has waited for a processor; nothing where the system does not tell.
[[nodiscard]] std::optional<std::chrono::nanoseconds> starved_time_of_this_thread();

class WorkerProcess {
 public:
  // kInternal: there is no such program; kResource: the system refuses. Returns before the worker
  // is ready.
  [[nodiscard]] static Result<std::unique_ptr<WorkerProcess>> start(
      const std::vector<std::string>& command, const SharedMemory& memory);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  [[nodiscard]] Channel& channel() noexcept { return channel_; }
  // Of the process so far. Nothing once it has ended.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> cpu_time() const;
  // What the system tells of it; nothing where it does not, or the process has ended.
  // How long it has waited for a processor, as far as these waits are over.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> starved_time() const;
  [[nodiscard]] bool wants_a_processor() const;  // it runs, or would
  // Of memory that is in use, shared memory and the pages of libraries included.
  [[nodiscard]] std::optional<std::uint64_t> resident_bytes() const;
  // What it wrote to its standard error before it was ready: the system's loader has no other way
  // to say that a library is missing. A line; empty where there was nothing. Once.
  [[nodiscard]] std::string take_first_words();
  void kill();
  // What its end means for the clip in hand; for a worker that has closed its socket. Waits until
  // it is dead.
  [[nodiscard]] Status cause_of_death();

 private:
  WorkerProcess(pid_t process, Descriptor socket, Descriptor words);
  [[nodiscard]] bool has_ended();  // also between two clips
  void reap(int wait_flags);

  pid_t process_;
  clockid_t cpu_clock_ = -1;
  Channel channel_;
  Descriptor words_;
  bool is_reaped_ = false;
  bool is_cause_known_ = false;
  int wait_status_ = 0;
};

}  // namespace xtts::decode_worker::detail
