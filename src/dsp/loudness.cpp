#include "dsp/loudness.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "base/try.hpp"
#include "dsp/trim.hpp"

namespace xtts::dsp {
namespace {

typedef float Floats4 __attribute__((vector_size(16)));
typedef std::int32_t Integers4 __attribute__((vector_size(16)));

// Sixteen running maxima: one alone would wait for itself at each sample.
float largest_magnitude(std::span<const float> samples) {
  constexpr std::size_t kVectors = 4;
  constexpr std::size_t kStep = kVectors * 4;
  Floats4 largest[kVectors] = {};
  std::size_t i = 0;
  for (; i + kStep <= samples.size(); i += kStep) {
    for (std::size_t j = 0; j < kVectors; ++j) {
      Integers4 bits;
      std::memcpy(&bits, samples.data() + i + 4 * j, sizeof bits);
      const auto magnitude = reinterpret_cast<Floats4>(bits & 0x7fffffff);
      largest[j] = magnitude > largest[j] ? magnitude : largest[j];
    }
  }
  float peak = 0.0F;
  for (const Floats4& four : largest) {
    for (int lane = 0; lane < 4; ++lane) peak = std::max(peak, four[lane]);
  }
  for (; i < samples.size(); ++i) peak = std::max(peak, std::abs(samples[i]));
  return peak;
}

Scaling rms_scaling(const formats::LoudnessConfig& config, const Loudness& loudness) {
  Scaling scaling;
  if (loudness.rms > 0.0F) scaling.factor = static_cast<float>(config.target) / loudness.rms;
  // Rounding is monotonic, so this is the peak of the scaled samples without looking at them.
  const float peak = loudness.peak * scaling.factor;
  const bool limits = config.limit_peak && peak > 1.0F;
  if (limits || config.then_peak_to_one) scaling.divisor = peak;
  return scaling;
}

}  // namespace

Result<Loudness> measure_loudness(SampleReader& samples, std::uint64_t first,
                                  std::uint64_t count) {
  if (count == 0) return Loudness{};
  XTTS_ASSIGN(const float energy, pairwise_energy(samples, first, count));
  const auto mean = static_cast<float>(static_cast<double>(energy) / static_cast<double>(count));
  Loudness loudness{.peak = 0.0F, .rms = std::sqrt(mean)};
  for (const std::uint64_t end = first + count; first < end;) {
    const auto wanted = static_cast<std::size_t>(
        std::min<std::uint64_t>(SampleReader::kPieceSamplesMax, end - first));
    XTTS_ASSIGN(const auto piece, samples.piece(first, wanted));
    loudness.peak = std::max(loudness.peak, largest_magnitude(piece));
    first += wanted;
  }
  return loudness;
}

Scaling plan_scaling(const formats::LoudnessConfig& config, const Loudness& loudness) {
  if (!(loudness.peak >= std::numeric_limits<float>::min())) return {};
  switch (config.method) {
    case formats::LoudnessMethod::kNone:
      return {};
    case formats::LoudnessMethod::kRms:
      return rms_scaling(config, loudness);
    case formats::LoudnessMethod::kPeak:
      return {.divisor = loudness.peak, .last_factor = static_cast<float>(config.target)};
  }
  return {};
}

void apply_scaling(const Scaling& scaling, std::span<float> samples) {
  const auto [factor, divisor, last_factor] = scaling;
  if (factor == 1.0F && divisor == 1.0F && last_factor == 1.0F) return;
  std::size_t i = 0;
  for (; i + 4 <= samples.size(); i += 4) {
    Floats4 four;
    std::memcpy(&four, samples.data() + i, sizeof four);
    four = four * factor / divisor * last_factor;
    std::memcpy(samples.data() + i, &four, sizeof four);
  }
  for (; i < samples.size(); ++i) samples[i] = samples[i] * factor / divisor * last_factor;
}

}  // namespace xtts::dsp
