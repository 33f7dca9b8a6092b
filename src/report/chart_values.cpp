#include "report/chart_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "report/human.hpp"

namespace xtts::report {

bool is_drawable(double value) {
  return std::isfinite(value);
}

double bounded(double value) {
  return std::clamp(value, -kLargest, kLargest);
}

std::vector<double> cleaned(std::span<const double> values) {
  std::vector<double> drawable;
  for (const double value : values) {
    if (is_drawable(value)) drawable.push_back(bounded(value));
  }
  return drawable;
}

double mean_of_chart(std::span<const double> values) {
  double mean = 0.0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  return mean;
}

Scale scale_from_zero(std::span<const double> values) {
  Scale scale{0.0, 0.0};
  for (const double value : values) {
    scale.low = std::min(scale.low, value);
    scale.high = std::max(scale.high, value);
  }
  if (!(scale.high - scale.low > 1e-300)) scale.high = scale.low + 1.0;
  return scale;
}

std::vector<double> ticks_of(const Scale& scale) {
  const double rough = scale.high / 4.0 - scale.low / 4.0;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    step = factor * power;
    if (step >= rough) break;
  }
  std::vector<double> ticks;
  if (!(step > 0.0) || !std::isfinite(step)) return ticks;
  const double first = std::ceil(scale.low / step);
  for (int i = 0; i < 8; ++i) {
    const double tick = (first + i) * step;
    if (tick > scale.high) break;
    ticks.push_back(tick);
  }
  return ticks;
}

std::string tick_label(double value) {
  if (std::abs(value) >= 1000.0 && std::abs(value) < 1e7) {
    const std::string digits =
        format_count(static_cast<std::uint64_t>(std::llround(std::abs(value))));
    return value < 0.0 ? "-" + digits : digits;
  }
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::general, 3);
  return std::string(digits.data(), end.ptr);
}

}  // namespace xtts::report
