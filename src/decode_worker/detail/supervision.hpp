// Supervision: waits for a worker's messages during one clip, within what the clip is worth.
//
// A failure is that of the clip: the worker has died, sent nonsense, or overstepped; in each case
// it is dead afterwards. Borrows the worker; one thread.
#pragma once

#include <chrono>
#include <cstdint>

#include "decode_worker/detail/worker_process.hpp"

namespace xtts::decode_worker::detail {

struct Worth {
  std::chrono::nanoseconds cpu_time_max{};
  std::chrono::milliseconds standstill_max{};
  std::uint64_t source_bytes = 0;  // for the message
};

class Supervision {
 public:
  Supervision(WorkerProcess& worker, const Worth& worth);
  [[nodiscard]] Result<Message> receive();
  // The end of a worker that says what it may not.
  [[nodiscard]] Status nonsense();
  // Whether the failure could be an earlier clip's doing: a death, not an overstepping.
  [[nodiscard]] bool has_died() const noexcept { return has_died_; }

 private:
  [[nodiscard]] Status look_at_clocks();
  [[nodiscard]] Status give_up(std::string text);

  WorkerProcess& worker_;
  Worth worth_;
  std::chrono::nanoseconds cpu_begin_;
  std::chrono::nanoseconds cpu_used_{};
  int still_turn_count_ = 0;
  std::uint64_t message_count_ = 0;
  bool has_died_ = false;
};

}  // namespace xtts::decode_worker::detail
