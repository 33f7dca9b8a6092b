// How long batches took, as a figure: one column after the other, with the mean and the 95th
// percentile as lines. Pure.
#pragma once

#include <span>
#include <string>

#include "figure/figure.hpp"

namespace xtts::report {

// If there are more batches than the width has columns, several share one, which shows the slowest
// of them.
[[nodiscard]] figure::Figure batch_times_figure(std::span<const double> ms,
                                                const std::string& title);

}  // namespace xtts::report
