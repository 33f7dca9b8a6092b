// Estimates the speed of work and the time left, from counts at moments of a monotonic clock. One
// thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace xtts::report {

// The rate is an exponentially weighted mean over about `window`. It follows a change of speed
// within seconds and does not jump with each clip. Until the window has filled, the rate is the
// plain mean since the start: a smoothed value that starts at zero would promise hours.
class RateEstimator {
 public:
  explicit RateEstimator(std::chrono::nanoseconds start,
                         std::chrono::nanoseconds window = std::chrono::seconds(15));

  // `done` counts from the start and never falls. Moments may come at any distance. An update
  // whose moment goes back is ignored.
  void update(std::chrono::nanoseconds now, double done);

  [[nodiscard]] double per_second() const noexcept;  // 0 until something was done
  [[nodiscard]] std::optional<double> seconds_left(double total) const noexcept;

 private:
  std::chrono::nanoseconds last_;
  double window_s_;
  double done_ = 0.0;
  // Weighted sums of work and time; their quotient needs no correction for the start.
  double weighted_work_ = 0.0;
  double weighted_time_s_ = 0.0;
};

}  // namespace xtts::report
