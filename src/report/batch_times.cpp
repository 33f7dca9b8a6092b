#include "report/batch_times.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace xtts::report {
namespace {

constexpr double kEvenVariation = 0.1;  // below it a rhythm does not matter
constexpr double kStrengthMin = 0.4;
constexpr std::size_t kPeriodsMin = 4;
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

// Returns the autocorrelation of the values' distances from their mean, by lag; 1 at lag 0.
std::vector<double> autocorrelation(std::span<const double> values, std::size_t lag_end) {
  const double mean = mean_of(values);
  std::vector<double> result(lag_end);
  for (std::size_t lag = 0; lag < lag_end; ++lag) {
    for (std::size_t i = lag; i < values.size(); ++i) {
      result[lag] += (values[i] - mean) * (values[i - lag] - mean);
    }
  }
  const double whole = result[0];
  for (double& value : result) value /= whole;
  return result;
}

}  // namespace

std::optional<Cycle> find_cycle(std::span<const double> ms) {
  const std::size_t lag_end = ms.size() / kPeriodsMin + 1;
  if (lag_end < 4) return std::nullopt;
  const double mean = mean_of(ms);
  if (mean <= 0.0 || std_of(ms, mean) / mean < kEvenVariation) return std::nullopt;
  const std::vector<double> strength = autocorrelation(ms, lag_end);
  const auto is_peak = [&](std::size_t lag) {
    return strength[lag] >= strength[lag - 1] &&
           (lag + 1 == strength.size() || strength[lag] >= strength[lag + 1]);
  };
  // Multiples of a period are peaks as well, and the first of them may not be the highest.
  double highest = kStrengthMin;
  for (std::size_t lag = 2; lag < lag_end; ++lag) {
    if (is_peak(lag)) highest = std::max(highest, strength[lag]);
  }
  for (std::size_t lag = 2; lag < lag_end; ++lag) {
    if (is_peak(lag) && strength[lag] >= kStrengthMin && strength[lag] >= 0.8 * highest) {
      return Cycle{.period = lag, .strength = strength[lag]};
    }
  }
  return std::nullopt;
}

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
  times.cycle = find_cycle(ms);
  return times;
}

}  // namespace xtts::report
