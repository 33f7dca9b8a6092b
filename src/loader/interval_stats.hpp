// IntervalStats tells how evenly events come: mean and deviation of all intervals (Welford's sums),
// and percentiles of the last 8,192. One thread at a time. Nothing fails.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace xtts::loader {

class IntervalStats {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Notes an event. The first one after forget_last() ends no interval.
  void tick(TimePoint now);
  // Begins anew where no interval should be counted: over the end of an epoch.
  void forget_last() noexcept { last_.reset(); }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }  // intervals
  [[nodiscard]] double mean_ms() const noexcept { return mean_; }
  [[nodiscard]] double std_ms() const noexcept;
  // The smallest interval that `share` of the last ones do not exceed. 0 where there are none.
  [[nodiscard]] double percentile_ms(double share) const;

 private:
  static constexpr std::size_t kRecentMax = 8192;

  std::optional<TimePoint> last_;
  std::uint64_t count_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;  // sum of squared distances from the mean
  std::vector<float> kept_;
};

}  // namespace xtts::loader
