// WorkerProcess: one worker, from posix_spawn to waitpid. Destruction kills and reaps it. One
// thread at a time; not always the one that started it.
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

// How long this thread has waited for a processor; nothing if the system does not tell.
[[nodiscard]] std::optional<std::chrono::nanoseconds> starved_time_of_this_thread();

class WorkerProcess {
 public:
  // kInternal: there is no such program. kResource: the system refuses. Returns before the worker
  // is ready.
  [[nodiscard]] static Result<std::unique_ptr<WorkerProcess>> start(
      const std::vector<std::string>& command, const SharedMemory& memory);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  [[nodiscard]] Channel& channel() noexcept { return channel_; }
  // The process's time so far; nothing once it has ended.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> cpu_time() const;
  // How long the process has waited for a processor, counting finished waits. This and
  // resident_bytes() return nothing if the system does not tell, or the process has ended.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> starved_time() const;
  [[nodiscard]] bool is_runnable() const;  // it runs, or would
  // Memory in use, with shared memory and the pages of libraries.
  [[nodiscard]] std::optional<std::uint64_t> resident_bytes() const;
  // One line of what the worker wrote to its standard error before it was ready; empty if nothing.
  // The system's loader has no other way to report a missing library. Call it once.
  [[nodiscard]] std::string take_startup_error();
  void kill();
  // Tells the meaning of the worker's end for its present clip; for a worker that has closed its
  // socket. Waits until the worker is dead.
  [[nodiscard]] Status wait_for_exit();

 private:
  WorkerProcess(pid_t process, Descriptor socket, Descriptor words);
  [[nodiscard]] bool has_ended();  // also detects an end between two clips
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
