#include "loader/interval_stats.hpp"

#include <algorithm>
#include <cmath>

namespace xtts::loader {

void IntervalStats::tick(TimePoint now) {
  if (last_) {
    const double ms = std::chrono::duration<double, std::milli>(now - *last_).count();
    const std::size_t place = count_ % kRecentMax;
    if (place == kept_.size()) kept_.push_back(0.0F);
    kept_[place] = static_cast<float>(ms);
    ++count_;
    const double distance = ms - mean_;
    mean_ += distance / static_cast<double>(count_);
    squares_ += distance * (ms - mean_);
  }
  last_ = now;
}

double IntervalStats::std_ms() const noexcept {
  return count_ == 0 ? 0.0 : std::sqrt(squares_ / static_cast<double>(count_));
}

double IntervalStats::percentile_ms(double share) const {
  if (kept_.empty()) return 0.0;
  std::vector<float> sorted = kept_;
  const auto last = static_cast<double>(sorted.size()) - 1.0;
  const double rank = std::ceil(share * static_cast<double>(sorted.size())) - 1.0;
  const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(std::clamp(rank, 0.0, last));
  std::ranges::nth_element(sorted, nth);
  return static_cast<double>(*nth);
}

}  // namespace xtts::loader
