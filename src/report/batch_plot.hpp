// A picture of how long batches took, one column after the other, with the mean and the 95th
// percentile as lines. Pure.
#pragma once

#include <span>
#include <string>

#include "report/batch_times.hpp"
#include "xtts/status.hpp"

namespace xtts::report {

// Returns a PNG. If there are more batches than the width has columns, several share one, which
// shows the slowest of them.
[[nodiscard]] Result<std::string> draw_batch_times(std::span<const double> ms,
                                                   const std::string& title);

}  // namespace xtts::report
