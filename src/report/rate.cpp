#include "report/rate.hpp"

#include <algorithm>
#include <cmath>

namespace xtts::report {

RateEstimator::RateEstimator(std::chrono::nanoseconds start, std::chrono::nanoseconds window)
    : last_(start), window_s_(std::max(std::chrono::duration<double>(window).count(), 1e-3)) {}

void RateEstimator::update(std::chrono::nanoseconds now, double done) {
  const double step_s = std::chrono::duration<double>(now - last_).count();
  if (step_s <= 0.0 || done < done_) return;
  // Work and time fade alike. The new step fades too, as if its work were spread over it evenly.
  // So many short updates and one long one give the same.
  const double keep = std::exp(-step_s / window_s_);
  const double share = (1.0 - keep) * window_s_;
  weighted_work_ = weighted_work_ * keep + (done - done_) / step_s * share;
  weighted_time_s_ = weighted_time_s_ * keep + share;
  last_ = now;
  done_ = done;
}

double RateEstimator::per_second() const noexcept {
  return weighted_time_s_ > 0.0 ? weighted_work_ / weighted_time_s_ : 0.0;
}

std::optional<double> RateEstimator::seconds_left(double total) const noexcept {
  if (done_ >= total) return 0.0;
  const double rate = per_second();
  if (rate <= 0.0) return std::nullopt;
  return (total - done_) / rate;
}

}  // namespace xtts::report
