// A number that is known to lie between two others. Plain value.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

namespace xtts::doctor {

struct Range {
  double low = 0.0;
  double high = 0.0;

  [[nodiscard]] double middle() const noexcept { return (low + high) / 2.0; }
};

// The span of measured rounds, wider by `margin` (a share) on both sides. Unset: no positive round.
[[nodiscard]] inline std::optional<Range> range_of(const std::vector<double>& rounds,
                                                   double margin) {
  std::optional<Range> range;
  for (const double value : rounds) {
    if (!(value > 0.0)) continue;
    if (!range) range = Range{value, value};
    range->low = std::min(range->low, value);
    range->high = std::max(range->high, value);
  }
  if (!range) return std::nullopt;
  return Range{range->low * (1.0 - margin), range->high * (1.0 + margin)};
}

}  // namespace xtts::doctor
