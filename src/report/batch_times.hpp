// BatchTimes: how long batches took, one after the other, and whether that has a rhythm. Pure
// functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

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

// The fastest training step that the users of this project report, for batches of 32: 22 a second.
inline constexpr double kShortStepMs = 45.0;

// The deviation of batches as a part of a training step that waits for each: what makes steps
// uneven. Batches of 0.1 ms that differ threefold do not.
[[nodiscard]] double step_variation(const BatchTimes& times,
                                    double step_ms = kShortStepMs) noexcept;
// "stable" below 20 % of the step, "acceptable" to 50 %, "oscillating" above.
[[nodiscard]] std::string_view evenness(double variation) noexcept;

[[nodiscard]] BatchTimes summarize_times(std::span<const double> ms);

// The shortest period with which the times repeat themselves; nothing where they do not, are even,
// or are fewer than four periods long.
[[nodiscard]] std::optional<Cycle> find_cycle(std::span<const double> ms);

}  // namespace xtts::report
