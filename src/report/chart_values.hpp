// Values of a chart as they are drawn: those that are finite, where they lie between two ends, and
// the ticks of an axis. Pure functions; any thread.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace xtts::report {

// Differences of values stay finite.
inline constexpr double kLargest = 1e300;

[[nodiscard]] bool is_drawable(double value);
[[nodiscard]] double bounded(double value);
// The values that can be drawn.
[[nodiscard]] std::vector<double> cleaned(std::span<const double> values);
[[nodiscard]] double mean_of_chart(std::span<const double> values);

// Where a value lies between two ends, 0 to 1.
struct Scale {
  double low = 0.0;
  double high = 1.0;

  [[nodiscard]] double share(double value) const {
    return std::clamp(value / (high - low) - low / (high - low), 0.0, 1.0);
  }
};

// Takes in 0 and all values, and has some length.
[[nodiscard]] Scale scale_from_zero(std::span<const double> values);
[[nodiscard]] std::vector<double> ticks_of(const Scale& scale);
[[nodiscard]] std::string tick_label(double value);

}  // namespace xtts::report
