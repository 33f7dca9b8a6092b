// The one search for a rhythm in times: reports, the doctor, and find_cycle() of the reader library
// use it. Pure functions; any thread.
//
// A rhythm of period P has lines in the spectrum, at 1/P and its multiples: one for a wave, many
// for a stall at each P-th batch. The search sums 1, 2, 4, ... 32 lines at each P, after dividing
// the spectrum by a smooth curve, which stands for noise of any colour. The best sum counts if at
// most one of 399 shuffles of the times has as good a one, so it does not matter how the times are
// distributed. What each time keeps of the one before is taken away first, since shuffles lack it.
// Values far off are drawn in, because a few of them would decide a sum alone.
#pragma once

#include <optional>
#include <span>

#include "xtts/cycle.hpp"

namespace xtts {

// What find_cycle() of xtts/cycle.hpp returns.
[[nodiscard]] std::optional<Cycle> search_cycle(std::span<const double> times);

}  // namespace xtts
