// The one search for a rhythm in times: reports, the doctor, and find_cycle() of the reader library
// use it. Pure functions; any thread.
//
// The times are folded at each whole period: where they repeat themselves, the means of a period's
// places differ. The period whose places explain most, beyond what chance gives so many, counts if
// at most one of 399 shuffles of the times has as good a one, so it does not matter how the times
// are distributed. What each time keeps of the one before is taken away first, since shuffles lack
// it. Values far off are drawn in, because a few of them would decide a mean alone. Of the period
// found, the shortest whole part that explains about as much is the rhythm: 7.5 of 15.
#pragma once

#include <optional>
#include <span>

#include "xtts/cycle.hpp"

namespace xtts {

// Returns the result of find_cycle() of xtts/cycle.hpp.
[[nodiscard]] std::optional<Cycle> search_cycle(std::span<const double> times);

}  // namespace xtts
