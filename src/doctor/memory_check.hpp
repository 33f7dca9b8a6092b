// Is there memory for the batches that are on their way? Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "doctor/check.hpp"
#include "doctor/machine.hpp"

namespace xtts::doctor {

// How batches are loaded, as far as it is known.
struct LoaderShape {
  std::uint32_t batch_size = 32;
  std::uint64_t record_bytes = 0;                  // of one clip in a batch, padded
  std::uint32_t slot_count = 4;                    // batches that our reader holds at once
  std::optional<std::uint32_t> worker_count = {};  // processes of the trainer's own loader
  std::uint32_t batches_ahead = 2;                 // of each such process

  [[nodiscard]] std::uint64_t batch_bytes() const noexcept { return batch_size * record_bytes; }
};

[[nodiscard]] Check check_memory(const MachineFacts& machine, const LoaderShape& shape);

}  // namespace xtts::doctor
