// This machine: processors, memory, limits. One snapshot; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/env.hpp"

namespace xtts::probe {

struct MachineFacts {
  std::uint32_t core_count = 1;     // that this process may use (its affinity)
  std::optional<double> cpu_limit;  // of a container, in processors; unset: none
  std::uint64_t memory_total_bytes = 0;
  std::uint64_t memory_available_bytes = 0;       // without swapping, within a container's limit
  std::optional<std::uint64_t> lock_limit_bytes;  // of locked memory; unset: none
  std::optional<std::uint64_t> shm_total_bytes;   // of /dev/shm; unset: there is none
  std::optional<std::uint64_t> shm_free_bytes;

  // How many processors' worth of work may run at once.
  [[nodiscard]] double usable_cores() const noexcept;
};

[[nodiscard]] MachineFacts read_machine(Env& env);

// "max 100000" or "150000 100000" of a control group's cpu.max, in processors; nullopt: no limit.
[[nodiscard]] std::optional<double> parse_cpu_limit(std::string_view text);

}  // namespace xtts::probe
