#include "dsp/bandwidth.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/try.hpp"

namespace xtts::dsp {
namespace {

constexpr std::size_t kSize = BandwidthMeter::kWindowSamples;
constexpr std::size_t kBins = kSize / 2 + 1;
constexpr std::uint64_t kPairs = 8;
constexpr float kShareOfLoudest = 1e-8F;  // -80 dB

std::vector<float> hann() {
  std::vector<float> window(kSize);
  for (std::size_t n = 0; n < kSize; ++n) {
    const double phase = 2.0 * std::numbers::pi * static_cast<double>(n) / kSize;
    window[n] = static_cast<float>(0.5 - 0.5 * std::cos(phase));
  }
  return window;
}

}  // namespace

Result<BandwidthMeter> BandwidthMeter::create(std::uint32_t sample_rate_hz) {
  // The result is compared with a bound, so its last bit must not depend on the processor.
  XTTS_ASSIGN(auto fft, ComplexFft<float>::create(kSize, FftCodelets::kPortable));
  return BandwidthMeter(sample_rate_hz, std::move(fft));
}

BandwidthMeter::BandwidthMeter(std::uint32_t sample_rate_hz, ComplexFft<float> fft)
    : bin_hz_(static_cast<float>(sample_rate_hz) / kSize),
      fft_(std::move(fft)),
      window_(hann()),
      powers_(kBins) {}

// Each transform takes two windows, one as its real and one as its imaginary part. The sum of their
// powers at bin k is half the sum of the powers in the bins k and -k.
Result<std::optional<float>> BandwidthMeter::measure(SampleReader& samples, std::uint64_t begin,
                                                     std::uint64_t end) {
  if (end - begin < kSize) return std::optional<float>();
  std::fill(powers_.begin(), powers_.end(), 0.0F);
  const std::uint64_t room = end - begin - kSize;
  for (std::uint64_t pair = 0; pair < kPairs; ++pair) {
    for (std::uint64_t part = 0; part < 2; ++part) {
      const std::uint64_t place = begin + room * (2 * pair + part) / (2 * kPairs - 1);
      XTTS_ASSIGN(const auto piece, samples.piece(place, kSize));
      float* const in = fft_.input() + part;
      for (std::size_t n = 0; n < kSize; ++n) in[2 * n] = window_[n] * piece[n];
    }
    fft_.execute();
    const float* const out = fft_.output();
    const auto power = [out](std::size_t bin) {
      return out[2 * bin] * out[2 * bin] + out[2 * bin + 1] * out[2 * bin + 1];
    };
    for (std::size_t bin = 0; bin < kBins; ++bin)
      powers_[bin] += power(bin) + power((kSize - bin) % kSize);
  }
  const float loudest = *std::max_element(powers_.begin(), powers_.end());
  if (!(loudest > 0.0F)) return std::optional<float>();
  std::size_t top = kBins - 1;
  while (top > 0 && powers_[top] < loudest * kShareOfLoudest) --top;
  return std::optional(static_cast<float>(top) * bin_hz_);
}

}  // namespace xtts::dsp
