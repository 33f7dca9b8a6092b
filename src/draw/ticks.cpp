#include "draw/ticks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace xtts::draw {
namespace {

using figure::Axis;
using figure::Tick;

// Returns the smallest of 1, 2 or 5 times a power of ten that is at least `step`.
double round_step(double step) {
  const double unit = std::pow(10.0, std::floor(std::log10(step) + 1e-9));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * unit >= step * (1.0 - 1e-9)) return factor * unit;
  }
  return 10.0 * unit;
}

// How many multiples of `step` lie on the axis.
int multiple_count(const Axis& axis, double step) {
  return static_cast<int>(std::floor(axis.high / step + 1e-9) - std::ceil(axis.low / step - 1e-9)) +
         1;
}

double step_of(const Axis& axis, int count_max) {
  double step = round_step((axis.high - axis.low) / count_max);
  if (axis.counts_things) step = std::max(step, 1.0);
  // Both ends may be multiples, which makes one tick too many.
  while (multiple_count(axis, step) > count_max) step = round_step(step * 1.5);
  return step;
}

}  // namespace

std::string format_number(double value, int digit_count) {
  std::array<char, 64> text{};
  // Beyond these, all digits would make a label of any length.
  const bool is_short = std::abs(value) < 1e15 && digit_count <= 9;
  std::snprintf(text.data(), text.size(), is_short ? "%.*f" : "%.*g", is_short ? digit_count : 3,
                value);
  std::string number(text.data());
  if (!is_short) return number;
  const std::size_t first = number.starts_with('-') ? 1 : 0;
  for (std::size_t at = std::min(number.find('.'), number.size()); at > first + 3;) {
    at -= 3;
    number.insert(at, 1, ',');
  }
  return number;
}

std::vector<Tick> ticks_of(const Axis& axis, int count_max) {
  std::vector<Tick> ticks;
  if (!axis.ticks.empty()) {
    std::ranges::copy_if(axis.ticks, std::back_inserter(ticks), [&](const Tick& tick) {
      return tick.at >= axis.low && tick.at <= axis.high;
    });
    return ticks;
  }
  if (!(axis.high > axis.low) || !std::isfinite(axis.high - axis.low) || count_max < 1)
    return ticks;
  const double step = step_of(axis, count_max);
  // Doubles cannot tell such multiples apart.
  if (step < 1e-12 * std::max(std::abs(axis.low), std::abs(axis.high))) return ticks;
  const int digit_count = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  const double first = std::ceil(axis.low / step - 1e-9);
  if (axis.counts_things && axis.low > 0.0 && axis.low <= 1.0 && first * step > 1.0)
    ticks.push_back({1.0, "1"});
  for (int i = 0; i < multiple_count(axis, step); ++i) {
    const double value = (first + i) * step;
    ticks.push_back({value, format_number(value, digit_count)});
  }
  if (ticks.size() > static_cast<std::size_t>(count_max)) ticks.pop_back();
  return ticks;
}

}  // namespace xtts::draw
