// How long batches took, as a figure in JSON: one column after the other, with the mean and the
// 95th percentile as lines. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace xtts::report {

// If there are more batches than the width has columns, several share one, which shows the slowest
// of them.
[[nodiscard]] nlohmann::json batch_times_figure(std::span<const double> ms,
                                                const std::string& title);

}  // namespace xtts::report
