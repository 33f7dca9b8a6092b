// The one search for a rhythm in times: reports, the doctor, and find_cycle() of the reader library
// use it. Pure functions; any thread.
//
// The times' spectrum is divided by a smooth curve, which stands for noise of any colour. A rhythm
// of period P has lines at 1/P and its multiples: one for a wave, many for a stall at each P-th
// batch. The search sums 1, 2, 4, ... 32 of them at each P. The best sum counts if at most one of
// 399 shuffles of the whitened times has as good a one. So its false alarms do not depend on how
// the times are distributed. Values far off are drawn in first, because a few of them decide a sum.
#pragma once

#include <optional>
#include <span>

#include "xtts/cycle.hpp"

namespace xtts {

// What find_cycle() of xtts/cycle.hpp returns.
[[nodiscard]] std::optional<Cycle> search_cycle(std::span<const double> times);

}  // namespace xtts
