// Chooses the numbers on an axis. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "figure/figure.hpp"

namespace xtts::draw {

// "2,010", "-0.50".
[[nodiscard]] std::string format_number(double value, int digit_count);

// Returns the axis' own labels that lie on it, by their importance, or multiples of 1, 2 or 5 times
// a power of ten, about `count_max` and never more. These have as many digits as their distance
// needs. Where the axis counts things, they are whole, and 1 is among them where the axis begins
// above 0.
[[nodiscard]] std::vector<figure::Tick> ticks_of(const figure::Axis& axis, int count_max);

}  // namespace xtts::draw
