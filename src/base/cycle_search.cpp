#include "base/cycle_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace xtts {
namespace {

constexpr std::size_t kCountMin = 24;
constexpr std::size_t kCountMax = 1024;  // a search among so many takes a second at most
constexpr double kEvenVariation = 0.1;   // below it a rhythm does not matter
constexpr std::size_t kPeriodsMin = 4;
constexpr double kFarOff = 6.0;  // in deviations of the usual values
constexpr int kShuffleCount = 399;
constexpr int kBetterShufflesMax = 1;
// Among periods that explain the times about equally well, the shortest one counts.
constexpr double kAboutEqual = 0.7;

struct Sum {
  double value = 0.0;
  double count = 0.0;

  void add(double one) {
    value += one;
    count += 1.0;
  }
  [[nodiscard]] double mean() const { return count > 0.0 ? value / count : 0.0; }
  // The part of the numbers' squares that their mean explains.
  [[nodiscard]] double explained() const { return value * mean(); }
};

double mean_of_times(std::span<const double> values) {
  Sum sum;
  for (const double value : values) sum.add(value);
  return sum.mean();
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double deviation_of(std::span<const double> values) {
  const double mean = mean_of_times(values);
  Sum squares;
  for (const double value : values) squares.add((value - mean) * (value - mean));
  return std::sqrt(squares.mean());
}

void draw_in_far_values(std::vector<double>& values) {
  const double middle = median_of(values);
  std::vector<double> apart;
  for (const double value : values) apart.push_back(std::abs(value - middle));
  const double largest = std::ranges::max(apart);
  double deviation = 1.4826 * median_of(apart);
  if (deviation < 1e-6 * largest) deviation = 1.2533 * mean_of_times(apart);
  for (double& value : values)
    value = std::clamp(value, middle - kFarOff * deviation, middle + kFarOff * deviation);
}

// Below this, a correlation of so many values is chance. What is taken away for no reason would
// distinguish the values from their shuffles.
double correlation_min(std::size_t count) {
  return 3.0 / std::sqrt(static_cast<double>(count));
}

// Takes away the mean, and a rise or fall over all values.
void remove_line(std::vector<double>& values) {
  const double mean = mean_of_times(values);
  const double centre = (static_cast<double>(values.size()) - 1.0) / 2.0;
  double product = 0.0;
  double squares_of_x = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(i) - centre;
    values[i] -= mean;
    product += x * values[i];
    squares_of_x += x * x;
    squares += values[i] * values[i];
  }
  if (std::abs(product) < correlation_min(values.size()) * std::sqrt(squares_of_x * squares))
    return;
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] -= product / squares_of_x * (static_cast<double>(i) - centre);
}

// Takes away what each value has of the one before it: the colour of the commonest noise. The first
// value is lost.
void remove_memory(std::vector<double>& values) {
  double product = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) product += values[i] * values[i - 1];
    squares += values[i] * values[i];
  }
  if (!(squares > 0.0)) return;
  // An alternation of fast and slow is a rhythm too, so not all of it is taken away.
  const double memory = std::max(product / squares, -0.6);
  if (std::abs(memory) < correlation_min(values.size())) return;
  for (std::size_t i = values.size() - 1; i > 0; --i) values[i] -= memory * values[i - 1];
  values.erase(values.begin());
}

// SplitMix64: the same shuffles each time.
class Shuffler {
 public:
  void shuffle(std::vector<double>& values) {
    for (std::size_t i = values.size() - 1; i > 0; --i)
      std::swap(values[i], values[next() % (i + 1)]);
  }

 private:
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
  }

  std::uint64_t state_ = 20'261'125;
};

// Values that are folded at a period: those at the same place of it lie over one another.
class Folded {
 public:
  explicit Folded(std::vector<double> values) : values_(std::move(values)) {}

  // The share of the variance that the means of the places explain. A period has as many places as
  // whole values.
  [[nodiscard]] double share(double period) {
    places_.assign(static_cast<std::size_t>(period), {});
    Sum all;
    double squares = 0.0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const double turns = static_cast<double>(i) / period + 1e-9;  // no place ends on a value
      const double place = (turns - std::floor(turns)) * static_cast<double>(places_.size());
      places_[static_cast<std::size_t>(place)].add(values_[i]);
      all.add(values_[i]);
      squares += values_[i] * values_[i];
    }
    double explained = -all.explained();
    for (const Sum& place : places_) explained += place.explained();
    const double whole = squares - all.explained();
    return whole > 0.0 ? std::clamp(explained / whole, 0.0, 1.0) : 0.0;
  }
  // Less what so many places explain of noise.
  [[nodiscard]] double share_beyond_noise(double period) {
    const auto count = static_cast<double>(values_.size());
    const double left = (1.0 - share(period)) * (count - 1.0) / (count - std::floor(period));
    return std::clamp(1.0 - left, 0.0, 1.0);
  }

  // The whole period whose share exceeds chance by most, and by how many deviations.
  struct Best {
    double score = -1e9;
    double period = 2.0;
  };
  [[nodiscard]] Best best() {
    Best found;
    for (std::size_t period = 2; period <= values_.size() / kPeriodsMin; ++period) {
      const double score = surprise(static_cast<double>(period));
      if (score > found.score) found = {score, static_cast<double>(period)};
    }
    return found;
  }
  void shuffle(Shuffler& shuffler) { shuffler.shuffle(values_); }

 private:
  // The share as a ratio of variances (F), by the root of Wilson and Hilferty, which is nearly
  // normal for any number of places.
  [[nodiscard]] double surprise(double period) {
    const double explained = share(period);
    const double free_of_places = period - 1.0;
    const double free_of_rest = static_cast<double>(values_.size()) - period;
    const double rest = std::max((1.0 - explained) / free_of_rest, 1e-12);
    const double root = std::cbrt(explained / free_of_places / rest);
    const double a = 2.0 / (9.0 * free_of_places);
    const double b = 2.0 / (9.0 * free_of_rest);
    return ((1.0 - b) * root - (1.0 - a)) / std::sqrt(b * root * root + a);
  }

  std::vector<double> values_;
  std::vector<Sum> places_;
};

Folded without_line(std::vector<double> values) {
  remove_line(values);
  return Folded(std::move(values));
}

}  // namespace

std::optional<Cycle> search_cycle(std::span<const double> times) {
  if (times.size() > kCountMax) times = times.last(kCountMax);
  const auto is_finite = [](double value) {
    return std::isfinite(value) && std::abs(value) < 1e100;
  };
  if (times.size() < kCountMin || !std::ranges::all_of(times, is_finite)) return std::nullopt;
  const double mean = mean_of_times(times);
  if (mean <= 0.0 || deviation_of(times) < kEvenVariation * mean) return std::nullopt;
  std::vector<double> calm(times.begin(), times.end());
  draw_in_far_values(calm);
  Folded near = without_line(calm);
  remove_line(calm);
  remove_memory(calm);
  Folded searched(calm);
  const Folded::Best found = searched.best();
  Shuffler shuffler;
  int better = 0;
  for (int i = 0; i < kShuffleCount && better <= kBetterShufflesMax; ++i) {
    searched.shuffle(shuffler);
    if (searched.best().score >= found.score) ++better;
  }
  if (better > kBetterShufflesMax) return std::nullopt;
  double period = found.period;
  const double share = near.share_beyond_noise(period);
  for (auto part = static_cast<int>(period / 2.0); part >= 2; --part) {
    const double shorter = found.period / part;
    if (near.share_beyond_noise(shorter) < kAboutEqual * share) continue;
    period = shorter;
    break;
  }
  Folded whole = without_line({times.begin(), times.end()});
  return Cycle{.period = period, .strength = whole.share_beyond_noise(period)};
}

}  // namespace xtts
