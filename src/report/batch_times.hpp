// BatchTimes: how long each batch took, in order, and whether the times have a rhythm. Pure
// functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "xtts/cycle.hpp"

namespace xtts::report {

struct BatchTimes {
  std::size_t count = 0;
  double mean_ms = 0.0;
  double std_ms = 0.0;
  double p50_ms = 0.0;
  double p95_ms = 0.0;
  double p99_ms = 0.0;
  std::optional<Cycle> cycle;  // slow batches that come again: a queue drains and fills again

  [[nodiscard]] double variation() const noexcept { return mean_ms > 0.0 ? std_ms / mean_ms : 0.0; }
};

// The fastest training step that users of this project report: 22 a second, with batches of 32.
inline constexpr double kShortStepMs = 45.0;

// Returns the deviation of batch times as a share of a training step that waits for each batch.
// This makes steps uneven; batches of 0.1 ms that differ threefold do not.
[[nodiscard]] double step_variation(const BatchTimes& times,
                                    double step_ms = kShortStepMs) noexcept;
// "stable" below 20 % of the step, "acceptable" to 50 %, "oscillating" above.
[[nodiscard]] std::string_view evenness(double variation) noexcept;

[[nodiscard]] BatchTimes summarize_times(std::span<const double> ms);

}  // namespace xtts::report
