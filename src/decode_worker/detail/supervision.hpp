// Supervision: waits for a worker's messages during one clip, within what the clip is worth.
//
// A failure is that of the clip: the worker has died, sent nonsense, or overstepped; in each case
// it is dead afterwards. Borrows the worker; one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <variant>

#include "audio/audio_decoder.hpp"
#include "decode_worker/detail/worker_process.hpp"

namespace xtts::decode_worker::detail {

struct Worth {
  std::chrono::nanoseconds cpu_time_max{};
  // In all, without the time in which it waits for a processor, for us, or is asleep with us.
  std::chrono::nanoseconds idle_time_max{};
  std::uint64_t source_bytes = 0;  // for the message
  std::optional<std::uint64_t> resident_bytes_max = {};
  std::function<bool()> cancelled = {};  // none: never
};

// What becomes of a worker with its clip.
enum class Ending {
  kWorkerIsReady,  // for the next clip
  kWorkerIsDead,   // as this clip's fault: it overstepped, or was killed from outside
  kWorkerDied,     // and may have been brought to it by an earlier clip
  kMemoryIsShort,  // the worker lives, but what is in it may be half done
};

class Supervision {
 public:
  Supervision(WorkerProcess& worker, const Worth& worth);
  [[nodiscard]] Result<Message> receive();
  // The end of a worker that says what it may not.
  [[nodiscard]] Status nonsense();
  // After a failure.
  [[nodiscard]] Ending ending() const noexcept { return ending_; }
  [[nodiscard]] const std::optional<audio::Overstep>& overstep() const noexcept {
    return overstep_;
  }

 private:
  [[nodiscard]] Status look();
  [[nodiscard]] bool is_idle() const;
  [[nodiscard]] std::variant<Message, Silence> wait(std::chrono::nanoseconds turn);
  [[nodiscard]] std::optional<std::chrono::nanoseconds> starved_time() const;
  [[nodiscard]] Status give_up(std::string text);

  WorkerProcess& worker_;
  Worth worth_;
  const std::chrono::nanoseconds look_every_;
  const std::chrono::nanoseconds cpu_begin_;
  std::optional<std::chrono::nanoseconds> starved_begin_;  // as of the first look
  std::chrono::nanoseconds cpu_used_{};
  std::chrono::nanoseconds waited_{};  // for messages, since the clip began
  std::chrono::nanoseconds waited_since_look_{};
  std::uint64_t message_count_ = 0;
  Ending ending_ = Ending::kWorkerIsDead;
  std::optional<audio::Overstep> overstep_;
};

}  // namespace xtts::decode_worker::detail
