#include "dsp/lufs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "base/try.hpp"

namespace xtts::dsp {
namespace {

constexpr double kAbsoluteGate = -70.0;
constexpr double kRelativeGate = -10.0;
constexpr std::size_t kStepsPerBlock = 4;
constexpr std::uint64_t kStepsPerSecond = 10;

// One second-order filter, in the form that keeps two numbers of state.
struct Biquad {
  double b0, b1, b2, a1, a2;
  double state1 = 0.0, state2 = 0.0;

  double run(double x) {
    const double y = b0 * x + state1;
    state1 = b1 * x - a1 * y + state2;
    state2 = b2 * x - a2 * y;
    return y;
  }
};

// The standard tabulates both filters at 48 kHz. We take the analog filters that its numbers come
// from, by the bilinear transform at any rate. At 48 kHz they give the table.
Biquad shelf_of(double rate_hz) {
  constexpr double kGainDb = 3.999843853973347, kQ = 0.7071752369554196;
  const double k = std::tan(std::numbers::pi * 1681.974450955533 / rate_hz);
  const double high = std::pow(10.0, kGainDb / 20.0);
  const double band = std::pow(high, 0.4996667741545416);
  const double a0 = 1.0 + k / kQ + k * k;
  return {(high + band * k / kQ + k * k) / a0, 2.0 * (k * k - high) / a0,
          (high - band * k / kQ + k * k) / a0, 2.0 * (k * k - 1.0) / a0,
          (1.0 - k / kQ + k * k) / a0};
}

Biquad high_pass_of(double rate_hz) {
  constexpr double kQ = 0.5003270373238773;
  const double k = std::tan(std::numbers::pi * 38.13547087602444 / rate_hz);
  const double a0 = 1.0 + k / kQ + k * k;
  return {1.0, -2.0, 1.0, 2.0 * (k * k - 1.0) / a0, (1.0 - k / kQ + k * k) / a0};
}

double lufs_of(double mean_square) {
  return -0.691 + 10.0 * std::log10(mean_square);
}

// The mean square of the blocks that are louder than `gate`, or 0.
double mean_above(const std::vector<double>& blocks, double gate) {
  double sum = 0.0;
  std::size_t count = 0;
  for (const double block : blocks) {
    if (!(lufs_of(block) > gate)) continue;
    sum += block;
    ++count;
  }
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

std::optional<double> gated(const std::vector<double>& blocks) {
  const double loud = mean_above(blocks, kAbsoluteGate);
  if (loud == 0.0) return std::nullopt;
  const double gate = std::max(kAbsoluteGate, lufs_of(loud) + kRelativeGate);
  return lufs_of(mean_above(blocks, gate));
}

// Sums the squares of weighted samples in steps of 100 ms.
class StepSums {
 public:
  StepSums(std::uint32_t rate_hz, std::uint64_t count)
      : rate_hz_(rate_hz), shelf_(shelf_of(rate_hz)), high_pass_(high_pass_of(rate_hz)) {
    sums_.resize(static_cast<std::size_t>(count * kStepsPerSecond / rate_hz + 1));
  }

  void add(std::span<const float> piece) {
    for (const float sample : piece) {
      const double weighted = high_pass_.run(shelf_.run(static_cast<double>(sample)));
      sums_[static_cast<std::size_t>(position_++ * kStepsPerSecond / rate_hz_)] +=
          weighted * weighted;
    }
  }

  [[nodiscard]] std::vector<double> blocks() const {
    const auto whole_steps = static_cast<std::size_t>(position_ * kStepsPerSecond / rate_hz_);
    std::vector<double> blocks;
    for (std::size_t step = 0; step + kStepsPerBlock <= whole_steps; ++step) {
      double sum = 0.0;
      for (std::size_t i = 0; i < kStepsPerBlock; ++i) sum += sums_[step + i];
      blocks.push_back(sum / static_cast<double>(begin_of(step + kStepsPerBlock) - begin_of(step)));
    }
    if (!blocks.empty()) return blocks;
    double sum = 0.0;
    for (const double step : sums_) sum += step;
    return {sum / static_cast<double>(std::max<std::uint64_t>(1, position_))};
  }

 private:
  // The first sample of a step.
  [[nodiscard]] std::uint64_t begin_of(std::size_t step) const {
    return (step * rate_hz_ + kStepsPerSecond - 1) / kStepsPerSecond;
  }

  std::uint64_t rate_hz_;
  std::uint64_t position_ = 0;
  Biquad shelf_;
  Biquad high_pass_;
  std::vector<double> sums_;
};

}  // namespace

Result<std::optional<double>> measure_lufs(SampleReader& samples, std::uint64_t first,
                                           std::uint64_t count, std::uint32_t sample_rate_hz) {
  StepSums sums(sample_rate_hz, count);
  for (const std::uint64_t end = first + count; first < end;) {
    const auto wanted = static_cast<std::size_t>(
        std::min<std::uint64_t>(SampleReader::kPieceSamplesMax, end - first));
    XTTS_ASSIGN(const auto piece, samples.piece(first, wanted));
    sums.add(piece);
    first += wanted;
  }
  return gated(sums.blocks());
}

}  // namespace xtts::dsp
