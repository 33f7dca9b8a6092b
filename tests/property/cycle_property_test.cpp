// Does the search for rhythms see what is there, and nothing in noise? With seeded series: equal on
// each machine, up to rounding.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "base/cycle_search.hpp"

namespace xtts {
namespace {

using Random = std::mt19937_64;
using Noise = std::function<std::vector<double>(Random&, std::size_t)>;

// XTTS_CYCLE_SERIES: another number of series, 10,000 for the shares in docs/waiting.md.
std::size_t series_count() {
  const char* const given = std::getenv("XTTS_CYCLE_SERIES");
  return given == nullptr ? 2'000 : std::strtoull(given, nullptr, 10);
}
constexpr double kFalseAlarmsMax = 0.01;

double normal(Random& random) {
  return std::normal_distribution<double>()(random);
}

std::vector<double> white(Random& random, std::size_t count) {
  std::vector<double> times(count);
  for (double& one : times) one = 10.0 + 3.0 * normal(random);
  return times;
}

// Each time keeps a part of the one before it.
Noise autoregressive(double memory) {
  return [memory](Random& random, std::size_t count) {
    std::vector<double> times(count);
    double state = normal(random) / std::sqrt(1.0 - memory * memory);
    for (double& one : times) {
      one = 30.0 + 3.0 * state;
      state = memory * state + normal(random);
    }
    return times;
  };
}

// Pareto's distribution with exponent 1.5: its variance is infinite.
std::vector<double> heavy_tailed(Random& random, std::size_t count) {
  std::uniform_real_distribution<double> uniform;
  std::vector<double> times(count);
  for (double& one : times) one = std::pow(1.0 - uniform(random), -1.0 / 1.5);
  return times;
}

// 1/f: a sum of noises whose memories are 1, 2, 4, ... times long.
std::vector<double> pink(Random& random, std::size_t count) {
  std::vector<double> times(count, 40.0);
  for (double span = 1.0; span < 4.0 * static_cast<double>(count); span *= 2.0) {
    const double memory = std::exp(-1.0 / span);
    double state = normal(random);
    for (double& one : times) {
      one += 3.0 * state;
      state = memory * state + std::sqrt(1.0 - memory * memory) * normal(random);
    }
  }
  return times;
}

// One batch in 20 stalls, at no regular time.
std::vector<double> random_stalls(Random& random, std::size_t count) {
  std::bernoulli_distribution is_stall(0.05);
  std::vector<double> times(count);
  for (double& one : times) one = (is_stall(random) ? 10.0 : 1.0) + 0.05 * normal(random);
  return times;
}

double share_with_cycle(const Noise& noise, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::size_t found = 0;
  // A long series takes five times as long, and shows the same.
  const std::size_t all = count > 200 ? series_count() / 5 : series_count();
  for (std::size_t i = 0; i < all; ++i)
    if (search_cycle(noise(random, count))) ++found;
  return static_cast<double>(found) / static_cast<double>(all);
}

struct NoiseCase {
  std::string name;
  Noise noise;
  std::size_t count;
};

void PrintTo(const NoiseCase& one, std::ostream* out) {
  *out << one.name << ", " << one.count << " times";
}

class FalseAlarms : public ::testing::TestWithParam<NoiseCase> {};

TEST_P(FalseAlarms, AreAtMostOneInAHundred) {
  constexpr std::uint64_t kSeed = 28;
  const NoiseCase& one = GetParam();
  const double share = share_with_cycle(one.noise, one.count, kSeed);
  RecordProperty("share", std::to_string(share));
  EXPECT_LE(share, kFalseAlarmsMax) << "seed " << kSeed;
}

INSTANTIATE_TEST_SUITE_P(OfNoise, FalseAlarms,
                         ::testing::Values(NoiseCase{"white", white, 100},
                                           NoiseCase{"white", white, 30},
                                           NoiseCase{"AR 0.3", autoregressive(0.3), 100},
                                           NoiseCase{"AR 0.7", autoregressive(0.7), 100},
                                           NoiseCase{"AR 0.95", autoregressive(0.95), 100},
                                           NoiseCase{"AR 0.95", autoregressive(0.95), 30},
                                           NoiseCase{"AR -0.5", autoregressive(-0.5), 100},
                                           NoiseCase{"heavy", heavy_tailed, 100},
                                           NoiseCase{"heavy", heavy_tailed, 30},
                                           NoiseCase{"1/f", pink, 100}, NoiseCase{"1/f", pink, 30},
                                           NoiseCase{"random stalls", random_stalls, 100},
                                           NoiseCase{"random stalls", random_stalls, 400},
                                           NoiseCase{"AR 0.7", autoregressive(0.7), 400}),
                         [](const auto& one) { return "Case" + std::to_string(one.index); });

// Rhythms in white noise. Heights are in deviations of the noise: half of the distance of a wave's
// top and bottom, or how much longer a stall is.
struct PlantedCase {
  bool is_wave;
  double height;
  double period;
  std::size_t count;
  double share_min;  // of the series: found, and its period within 3 %
};

void PrintTo(const PlantedCase& one, std::ostream* out) {
  *out << (one.is_wave ? "wave" : "stall") << " of " << one.height << ", period " << one.period
       << ", " << one.count << " times";
}

std::vector<double> planted(Random& random, const PlantedCase& one) {
  std::vector<double> times = white(random, one.count);
  const double start = std::uniform_real_distribution<double>(0.0, one.period)(random);
  if (one.is_wave) {
    for (std::size_t i = 0; i < one.count; ++i)
      times[i] += 3.0 * one.height *
                  std::sin(2.0 * std::numbers::pi * (static_cast<double>(i) + start) / one.period);
    return times;
  }
  for (double at = start; at < static_cast<double>(one.count); at += one.period)
    times[static_cast<std::size_t>(at)] += 3.0 * one.height;
  return times;
}

class Power : public ::testing::TestWithParam<PlantedCase> {};

TEST_P(Power, FindsWhatWasPlanted) {
  const std::size_t all = series_count() / 20;
  const PlantedCase& one = GetParam();
  Random random(5);
  std::size_t found = 0;
  for (std::size_t i = 0; i < all; ++i) {
    const auto cycle = search_cycle(planted(random, one));
    if (cycle && std::abs(cycle->period - one.period) <= 0.03 * one.period) ++found;
  }
  const double share = static_cast<double>(found) / static_cast<double>(all);
  RecordProperty("share", std::to_string(share));
  EXPECT_GE(share, one.share_min);
}

INSTANTIATE_TEST_SUITE_P(OfWaves, Power,
                         ::testing::Values(PlantedCase{true, 2.0, 5.0, 50, 0.9},
                                           PlantedCase{true, 2.0, 10.0, 50, 0.6},
                                           PlantedCase{true, 1.0, 7.5, 100, 0.6},
                                           PlantedCase{true, 2.0, 10.0, 100, 0.95},
                                           PlantedCase{true, 1.0, 10.0, 200, 0.95},
                                           PlantedCase{true, 1.0, 24.0, 200, 0.5},
                                           PlantedCase{true, 0.5, 10.0, 400, 0.8}),
                         [](const auto& one) { return "Case" + std::to_string(one.index); });
INSTANTIATE_TEST_SUITE_P(OfStalls, Power,
                         ::testing::Values(PlantedCase{false, 8.0, 2.0, 50, 0.9},
                                           PlantedCase{false, 8.0, 10.0, 50, 0.8},
                                           PlantedCase{false, 4.0, 5.0, 100, 0.95},
                                           PlantedCase{false, 8.0, 7.5, 100, 0.25},
                                           PlantedCase{false, 4.0, 10.0, 100, 0.85},
                                           PlantedCase{false, 8.0, 16.0, 100, 0.9},
                                           PlantedCase{false, 8.0, 24.0, 200, 0.95},
                                           PlantedCase{false, 8.0, 48.0, 400, 0.85}),
                         [](const auto& one) { return "Case" + std::to_string(one.index); });

}  // namespace
}  // namespace xtts
