#include "report/ticks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "report/human.hpp"

namespace xtts::report {
namespace {

// Returns the smallest of 1, 2 or 5 times a power of ten that is at least `step`.
double round_step(double step, int& digit_count) {
  const double power = std::floor(std::log10(step) + 1e-9);
  const double unit = std::pow(10.0, power);
  double factor = 10.0;
  for (const double candidate : {1.0, 2.0, 5.0}) {
    if (candidate * unit >= step * (1.0 - 1e-9)) {
      factor = candidate;
      break;
    }
  }
  digit_count = std::max(0, static_cast<int>(-power) - (factor == 10.0 ? 1 : 0));
  return factor * unit;
}

std::string frequency_label(double hz) {
  if (hz < 1000.0) return format_fixed(hz, 0);
  const double khz = hz / 1000.0;
  return format_fixed(khz, khz == std::floor(khz) ? 0 : 1) + "k";
}

}  // namespace

std::vector<Tick> linear_ticks(double low, double high, int count_max) {
  std::vector<Tick> ticks;
  if (!std::isfinite(low) || !std::isfinite(high) || !(high > low) || count_max < 1) return ticks;
  int digit_count = 0;
  double step = round_step((high - low) / count_max, digit_count);
  // Both ends may be multiples, which makes one tick too many.
  const auto count = [&] {
    return std::floor(high / step + 1e-9) - std::ceil(low / step - 1e-9) + 1;
  };
  while (count() > count_max) step = round_step(step * 1.5, digit_count);
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; i < static_cast<int>(count()); ++i) {
    const double value = (first + i) * step;
    ticks.push_back({value, format_fixed(value, digit_count)});
  }
  return ticks;
}

std::vector<Tick> count_ticks(std::size_t count, int count_max) {
  std::vector<Tick> ticks;
  if (count == 0 || count_max < 1) return ticks;
  const double high = static_cast<double>(count);
  int digit_count = 0;
  const double step = std::max(round_step(high / count_max, digit_count), 1.0);
  if (step > 1.0) ticks.push_back({1.0, "1"});
  for (int i = 1; i * step <= high; ++i) ticks.push_back({i * step, format_fixed(i * step, 0)});
  return ticks;
}

std::vector<Tick> frequency_ticks(double low_hz, double high_hz, double distance_min,
                                  const std::function<double(double hz)>& place) {
  // Frequencies by rank: round ones are placed first, others where there is room.
  constexpr std::array<double, 22> kByRank{1000, 2000,  4000,  8000, 500,  16000, 200, 100,
                                           0,    3000,  6000,  5000, 1500, 10000, 700, 300,
                                           50,   12000, 20000, 7000, 2500, 15000};
  std::vector<Tick> ticks;
  for (const double hz : kByRank) {
    if (hz < low_hz || hz > high_hz) continue;
    const bool has_room = std::all_of(ticks.begin(), ticks.end(), [&](const Tick& tick) {
      return std::abs(place(tick.value) - place(hz)) >= distance_min;
    });
    if (has_room) ticks.push_back({hz, frequency_label(hz)});
  }
  std::sort(ticks.begin(), ticks.end(),
            [](const Tick& a, const Tick& b) { return a.value < b.value; });
  return ticks;
}

}  // namespace xtts::report
