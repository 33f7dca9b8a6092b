#include "report/batch_times.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/cycle_search.hpp"

namespace xtts::report {
namespace {

// The users' own limits of std / mean.
constexpr double kStableVariation = 0.2;
constexpr double kOscillatingVariation = 0.5;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double std_of(std::span<const double> values, double mean) {
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

// Returns the smallest value that the given share of all values does not exceed.
double quantile(const std::vector<double>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size())) - 1.0;
  return sorted[static_cast<std::size_t>(std::max(rank, 0.0))];
}

}  // namespace

double step_variation(const BatchTimes& times, double step_ms) noexcept {
  const double whole_ms = step_ms + times.mean_ms;
  return whole_ms > 0.0 ? times.std_ms / whole_ms : 0.0;
}

std::string_view evenness(double variation) noexcept {
  if (variation < kStableVariation) return "stable";
  return variation <= kOscillatingVariation ? "acceptable" : "oscillating";
}

BatchTimes summarize_times(std::span<const double> ms) {
  BatchTimes times;
  times.count = ms.size();
  if (ms.empty()) return times;
  times.mean_ms = mean_of(ms);
  times.std_ms = std_of(ms, times.mean_ms);
  std::vector<double> sorted(ms.begin(), ms.end());
  std::ranges::sort(sorted);
  times.p50_ms = quantile(sorted, 0.50);
  times.p95_ms = quantile(sorted, 0.95);
  times.p99_ms = quantile(sorted, 0.99);
  times.cycle = search_cycle(ms);
  return times;
}

}  // namespace xtts::report
