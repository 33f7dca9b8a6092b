// BatchTimes: how long batches took, one after the other, and whether that has a rhythm. Pure
// functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace xtts::report {

// Slow batches that come again every `period` batches: a queue that drains and is filled up.
struct Cycle {
  std::size_t period = 0;
  double strength = 0.0;  // of the autocorrelation, up to 1
};

struct BatchTimes {
  std::size_t count = 0;
  double mean_ms = 0.0;
  double std_ms = 0.0;
  double p50_ms = 0.0;
  double p95_ms = 0.0;
  double p99_ms = 0.0;
  std::optional<Cycle> cycle;

  [[nodiscard]] double variation() const noexcept { return mean_ms > 0.0 ? std_ms / mean_ms : 0.0; }
};

[[nodiscard]] BatchTimes summarize_times(std::span<const double> ms);

// The shortest period with which the times repeat themselves; nothing where they do not, are even,
// or are fewer than four periods long.
[[nodiscard]] std::optional<Cycle> find_cycle(std::span<const double> ms);

}  // namespace xtts::report
