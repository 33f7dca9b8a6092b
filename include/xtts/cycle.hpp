// find_cycle() tells whether times repeat themselves: each tenth batch is slow, or times rise and
// fall in waves. Part of libxtts_reader.so.
//
// A pure function, for any thread. Equal times give equal answers.
#pragma once

#include <optional>
#include <span>

#include "xtts/export.hpp"
#include "xtts/status.hpp"

namespace xtts {

struct Cycle {
  double period = 0.0;    // in values; it need not be whole
  double strength = 0.0;  // the share of the times' variance that repeats itself, up to 1
};

// Returns the rhythm of times in their order. None: they do not repeat themselves beyond chance,
// their deviation is below a tenth of their mean, they are fewer than 24, or one is not finite. At
// least four periods must lie within the times, and the last 1,024 times count. Noise of many kinds
// seems rhythmic in less than 1 % of the cases (tests/property/cycle_property_test.cpp).
[[nodiscard]] XTTS_API Result<std::optional<Cycle>> find_cycle(std::span<const double> times);

}  // namespace xtts
