// Supervision: waits for a worker's messages during one clip, within the clip's limits.
//
// A failure here is the clip's failure: the worker has died, sent nonsense, or exceeded a limit.
// The worker is dead then. Borrows the worker; one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <variant>

#include "audio/audio_decoder.hpp"
#include "decode_worker/detail/worker_process.hpp"

namespace xtts::decode_worker::detail {

// The limits of the worker for one clip.
struct ClipLimits {
  std::chrono::nanoseconds cpu_time_max{};
  // The total, without the time in which the worker waits for a processor or for us, or sleeps with
  // us.
  std::chrono::nanoseconds idle_time_max{};
  std::uint64_t source_bytes = 0;  // for the message
  std::optional<std::uint64_t> resident_bytes_max = {};
  std::function<bool()> cancelled = {};  // empty: never cancelled
};

// The worker's state after its clip.
enum class WorkerState {
  kReady,             // for the next clip
  kDeadByThisClip,    // it exceeded a limit, or was killed from outside
  kDeadCauseUnknown,  // an earlier clip may have caused it
  kOutOfMemory,       // the worker lives, but its work may be half done
};

class Supervision {
 public:
  Supervision(WorkerProcess& worker, const ClipLimits& limits);
  [[nodiscard]] Result<Message> receive();
  // Ends a worker that sent an invalid message.
  [[nodiscard]] Status end_for_invalid_message();
  // Valid after a failure.
  [[nodiscard]] WorkerState worker_state() const noexcept { return worker_state_; }
  [[nodiscard]] const std::optional<audio::ExceededLimit>& exceeded_limit() const noexcept {
    return exceeded_limit_;
  }

 private:
  [[nodiscard]] Status look();
  [[nodiscard]] bool is_idle() const;
  [[nodiscard]] std::variant<Message, NoMessage> wait(std::chrono::nanoseconds turn);
  [[nodiscard]] std::optional<std::chrono::nanoseconds> starved_time() const;
  [[nodiscard]] Status give_up(std::string text);

  WorkerProcess& worker_;
  ClipLimits limits_;
  const std::chrono::nanoseconds look_every_;
  const std::chrono::nanoseconds cpu_begin_;
  std::optional<std::chrono::nanoseconds> starved_begin_;  // at the first check
  std::chrono::nanoseconds cpu_used_{};
  std::chrono::nanoseconds waited_{};  // for messages, since the clip began
  std::chrono::nanoseconds waited_since_look_{};
  std::uint64_t message_count_ = 0;
  WorkerState worker_state_ = WorkerState::kDeadByThisClip;
  std::optional<audio::ExceededLimit> exceeded_limit_;
};

}  // namespace xtts::decode_worker::detail
