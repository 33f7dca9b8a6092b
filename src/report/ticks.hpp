// Chooses the numbers on an axis. Pure functions.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace xtts::report {

struct Tick {
  double value = 0.0;
  std::string label;
};

// Returns multiples of 1, 2 or 5 times a power of ten within [low, high], about `count_max` and
// never more. Labels have as many digits as the step needs. Empty where the range is empty or not
// finite.
[[nodiscard]] std::vector<Tick> linear_ticks(double low, double high, int count_max);

// Returns ticks for things that are counted from 1 to `count`: 1, and multiples of 1, 2 or 5 times
// a power of ten. Beside the 1 there are at most `count_max`.
[[nodiscard]] std::vector<Tick> count_ticks(std::size_t count, int count_max);

// Returns familiar frequencies (100, 200, 500, 1k, ...), at least `distance_min` apart in the
// axis' own unit. `place` converts a frequency to that unit.
[[nodiscard]] std::vector<Tick> frequency_ticks(double low_hz, double high_hz, double distance_min,
                                                const std::function<double(double hz)>& place);

}  // namespace xtts::report
