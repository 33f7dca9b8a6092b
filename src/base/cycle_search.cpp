#include "base/cycle_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace xtts {
namespace {

constexpr std::size_t kCountMin = 24;
constexpr std::size_t kCountMax = 4096;  // a search among so many takes about half a second
constexpr double kEvenVariation = 0.1;   // below it a rhythm does not matter
constexpr double kPeriodsMin = 4.0;
constexpr double kFarOff = 6.0;            // in deviations of the usual values
constexpr std::size_t kLineDoublings = 6;  // 1, 2, 4, ... 32 lines
constexpr int kShuffleCount = 399;
constexpr int kBetterShufflesMax = 1;
// Among periods that explain the times about equally well, the shortest one counts.
constexpr double kAboutEqual = 0.7;
// A period that is this near to a whole one, in turns of its last line over all times, is whole.
constexpr double kSameTurns = 0.25;

using Spectrum = std::vector<std::complex<double>>;

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double mean_of_times(std::span<const double> values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double variance_of(std::span<const double> values) {
  const double mean = mean_of_times(values);
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size());
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

// Fourier transforms of one length, a power of two.
class Transform {
 public:
  explicit Transform(std::size_t length) : turns_(length / 2), places_(length) {
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      turns_[i] = std::polar(
          1.0, -2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length));
    }
    for (std::size_t i = 1; i < length; ++i)
      places_[i] = places_[i / 2] / 2 + (i % 2 == 1 ? length / 2 : 0);
  }

  void run(Spectrum& values) const {
    const std::size_t length = values.size();
    for (std::size_t i = 0; i < length; ++i)
      if (places_[i] > i) std::swap(values[i], values[places_[i]]);
    for (std::size_t half = 1; half < length; half *= 2) {
      const std::size_t stride = length / (2 * half);
      for (std::size_t first = 0; first < length; first += 2 * half) {
        for (std::size_t i = 0; i < half; ++i) {
          // By hand: operator* also looks for infinite values.
          const std::complex<double> turn = turns_[i * stride];
          const std::complex<double> odd = values[first + half + i];
          const std::complex<double> turned(odd.real() * turn.real() - odd.imag() * turn.imag(),
                                            odd.real() * turn.imag() + odd.imag() * turn.real());
          values[first + half + i] = values[first + i] - turned;
          values[first + i] += turned;
        }
      }
    }
  }

 private:
  std::vector<std::complex<double>> turns_;
  std::vector<std::size_t> places_;
};

// Where a rhythm was looked for, and how far it exceeds chance.
struct Candidate {
  double score = -1.0;  // the negative logarithm of its probability at one place by chance
  double frequency = 0.0;
  std::size_t line_count = 1;
};

// -log P(S > sum), where S is the sum of `count` exponential variables of mean 1.
double surprise_of(double sum, std::size_t count) {
  if (sum <= 0.0) return 0.0;
  double largest = 0.0;
  std::vector<double> logs(count);
  for (std::size_t k = 0; k < count; ++k) {
    logs[k] = static_cast<double>(k) * std::log(sum) - std::lgamma(static_cast<double>(k) + 1.0);
    largest = std::max(largest, logs[k]);
  }
  double total = 0.0;
  for (const double one : logs) total += std::exp(one - largest);
  return sum - largest - std::log(total);
}

// Solves three equations with the symmetric matrix `a`. Gaussian elimination with pivots.
std::array<double, 3> solve(std::array<std::array<double, 4>, 3> a) {
  for (std::size_t column = 0; column < 3; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < 3; ++row)
      if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
    std::swap(a[column], a[pivot]);
    if (std::abs(a[column][column]) < 1e-12) return {a[0][3], 0.0, 0.0};
    for (std::size_t row = 0; row < 3; ++row) {
      if (row == column) continue;
      const double factor = a[row][column] / a[column][column];
      for (std::size_t i = column; i < 4; ++i) a[row][i] -= factor * a[column][i];
    }
  }
  return {a[0][3] / a[0][0], a[1][3] / a[1][1], a[2][3] / a[2][2]};
}

class CycleSearch {
 public:
  explicit CycleSearch(std::size_t count)
      : count_(count), length_(length_for(count)), transform_(length_) {
    for (std::size_t bin = 1; bin <= length_ / 2; ++bin)
      log_frequencies_.push_back(std::log(static_cast<double>(bin) / static_cast<double>(length_)));
  }

  // The best place for a rhythm.
  Candidate best(const std::vector<double>& values) {
    power_of(values);
    const std::vector<double> curve = smooth_curve();
    for (std::size_t i = 0; i < power_.size(); ++i) power_[i] /= curve[i];
    Candidate found;
    for (std::size_t doubling = 0; doubling < kLineDoublings; ++doubling) {
      const std::size_t lines = std::size_t{1} << doubling;
      // Frequencies in steps of 1 / (lines * length), so that the last line meets each bin.
      const auto low = static_cast<std::size_t>(std::ceil(
          kPeriodsMin / static_cast<double>(count_) * static_cast<double>(length_ * lines)));
      const std::size_t high = length_ / 2;
      double best_sum = -1.0;
      std::size_t best_step = 0;
      for (std::size_t step = low; step <= high; ++step) {
        double sum = 0.0;
        for (std::size_t line = 1; line <= lines; ++line)
          sum += power_[((step * line + lines / 2) >> doubling) - 1];
        if (sum > best_sum) {
          best_sum = sum;
          best_step = step;
        }
      }
      if (best_step == 0) continue;
      const double score = surprise_of(best_sum, lines);
      if (score > found.score)
        found = {score, static_cast<double>(best_step) / static_cast<double>(lines * length_),
                 lines};
    }
    return found;
  }

 private:
  // Twice as long as the values, so that no line falls between two bins.
  static std::size_t length_for(std::size_t count) {
    std::size_t length = 1;
    while (length < 2 * count) length *= 2;
    return length;
  }

  // Fills spectrum_, and power_ from the first bin to half of the sampling rate.
  void power_of(const std::vector<double>& values) {
    spectrum_.assign(length_, {});
    for (std::size_t i = 0; i < count_; ++i) spectrum_[i] = values[i];
    transform_.run(spectrum_);
    power_.resize(length_ / 2);
    double sum = 0.0;
    for (std::size_t bin = 1; bin <= length_ / 2; ++bin) {
      power_[bin - 1] = std::norm(spectrum_[bin]);
      sum += power_[bin - 1];
    }
    // No power is 0, so that each has a logarithm.
    const double floor = std::max(1e-4 * sum / static_cast<double>(power_.size()), 1e-300);
    for (double& one : power_) one += floor;
  }

  // exp(a + b log f + c log² f) through the powers' logarithms, scaled to the mean of noise.
  std::vector<double> smooth_curve() const {
    std::array<std::array<double, 4>, 3> sums{};
    for (std::size_t i = 0; i < power_.size(); ++i) {
      const std::array<double, 3> x{1.0, log_frequencies_[i],
                                    log_frequencies_[i] * log_frequencies_[i]};
      const double y = std::log(power_[i]);
      for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t column = 0; column < 3; ++column) sums[row][column] += x[row] * x[column];
        sums[row][3] += x[row] * y;
      }
    }
    const std::array<double, 3> fit = solve(sums);
    constexpr double kMeanOfLog = std::numbers::egamma;  // of an exponential variable, negated
    std::vector<double> curve;
    curve.reserve(power_.size());
    for (const double x : log_frequencies_)
      curve.push_back(std::exp(fit[0] + fit[1] * x + fit[2] * x * x + kMeanOfLog));
    return curve;
  }

  std::size_t count_;
  std::size_t length_;
  Transform transform_;
  std::vector<double> log_frequencies_;
  Spectrum spectrum_;
  std::vector<double> power_;
};

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

// The power of `values` at a frequency and its multiples.
double power_of_lines(std::span<const double> values, double frequency, std::size_t line_count) {
  double power = 0.0;
  for (std::size_t line = 1; line <= line_count; ++line) {
    const double angle = 2.0 * std::numbers::pi * frequency * static_cast<double>(line);
    if (angle > std::numbers::pi * (1.0 + 1e-9)) break;
    const std::complex<double> turn = std::polar(1.0, angle);
    std::complex<double> at = 1.0;
    std::complex<double> sum = 0.0;
    for (const double value : values) {
      sum += value * at;
      at *= turn;
    }
    const bool is_highest = angle > std::numbers::pi * (1.0 - 1e-9);
    power += std::norm(sum) * (is_highest ? 1.0 : 2.0);
  }
  return power / static_cast<double>(values.size());
}

// The share of the variance that all lines of a period explain, less what noise would give them.
double share_explained(std::span<const double> centred, double period) {
  const auto count = static_cast<double>(centred.size());
  const double line_count = std::floor(period / 2.0 + 1e-9);
  const double whole = variance_of(centred) * count;
  const double share = std::min(
      power_of_lines(centred, 1.0 / period, static_cast<std::size_t>(line_count)) / whole, 1.0);
  const double free_count = count - 1.0 - 2.0 * line_count;
  if (free_count <= 1.0) return share;
  return std::clamp(1.0 - (1.0 - share) * (count - 1.0) / free_count, 0.0, 1.0);
}

Cycle described(std::span<const double> times, const Candidate& found, std::size_t length) {
  std::vector<double> centred(times.begin(), times.end());
  std::vector<double> calm = centred;
  draw_in_far_values(calm);
  remove_line(calm);
  remove_line(centred);
  // The frequency between the steps of the search.
  double frequency = found.frequency;
  double highest = -1.0;
  const double step = 1.0 / static_cast<double>(length * found.line_count);
  for (int i = -20; i <= 20; ++i) {
    const double tried = std::min(found.frequency + step * i / 20.0, 0.5);
    const double power = power_of_lines(calm, tried, found.line_count);
    if (power > highest) {
      highest = power;
      frequency = tried;
    }
  }
  double period = 1.0 / frequency;
  double share = share_explained(calm, period);
  const double whole = std::round(period);
  const double turns = std::abs(1.0 / whole - frequency) * static_cast<double>(found.line_count) *
                       static_cast<double>(times.size());
  if (whole >= 2.0 && turns < kSameTurns) {
    period = whole;
    share = share_explained(calm, whole);
  }
  for (auto part = static_cast<std::size_t>(period / 2.0); part >= 2; --part) {
    const double shorter = period / static_cast<double>(part);
    if (share_explained(calm, shorter) < kAboutEqual * share) continue;
    period = shorter;
    break;
  }
  return {.period = period, .strength = share_explained(centred, period)};
}

}  // namespace

std::optional<Cycle> search_cycle(std::span<const double> times) {
  if (times.size() > kCountMax) times = times.last(kCountMax);
  const auto is_finite = [](double value) {
    return std::isfinite(value) && std::abs(value) < 1e100;
  };
  if (times.size() < kCountMin || !std::ranges::all_of(times, is_finite)) return std::nullopt;
  const double mean = mean_of_times(times);
  if (mean <= 0.0 || std::sqrt(variance_of(times)) < kEvenVariation * mean) return std::nullopt;
  std::vector<double> calm(times.begin(), times.end());
  draw_in_far_values(calm);
  remove_line(calm);
  remove_memory(calm);
  CycleSearch search(calm.size());
  const Candidate found = search.best(calm);
  Shuffler shuffler;
  std::vector<double> shuffled = calm;
  int better = 0;
  for (int i = 0; i < kShuffleCount && better <= kBetterShufflesMax; ++i) {
    shuffler.shuffle(shuffled);
    if (search.best(shuffled).score >= found.score) ++better;
  }
  if (better > kBetterShufflesMax) return std::nullopt;
  std::size_t length = 1;
  while (length < 2 * calm.size()) length *= 2;
  return described(times, found, length);
}

}  // namespace xtts
