#include "dsp/loudness.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "base/try.hpp"
#include "dsp/trim.hpp"
#include "formats/condition_config.hpp"

namespace xtts::dsp {
namespace {

typedef float Floats4 __attribute__((vector_size(16)));
typedef std::int32_t Integers4 __attribute__((vector_size(16)));

// Sixteen running maxima: with one, each sample would wait for the one before.
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

// Scales to the target, or to less if the peak would pass 1.
Scaling scaling_by(const formats::LoudnessConfig& config, float factor, float peak) {
  if (config.limit_peak) factor = std::min(factor, 1.0F / peak);
  Scaling scaling{.factor = factor};
  // Rounding is monotonic, so this is the peak of the scaled samples; they need not be read.
  if (config.then_peak_to_one) scaling.divisor = peak * factor;
  return scaling;
}

Scaling rms_scaling(const formats::LoudnessConfig& config, const Loudness& loudness) {
  const float rms = loudness.rms + static_cast<float>(config.rms_plus);
  return scaling_by(config, rms > 0.0F ? static_cast<float>(config.target) / rms : 1.0F,
                    loudness.peak);
}

Scaling lufs_scaling(const formats::LoudnessConfig& config, const Loudness& loudness) {
  if (!loudness.lufs) return {};
  return scaling_by(config,
                    static_cast<float>(std::pow(10.0, (config.target - *loudness.lufs) / 20.0)),
                    loudness.peak);
}

Scaling plan_gain(const formats::LoudnessConfig& config, const Loudness& loudness) {
  if (!(loudness.peak >= std::numeric_limits<float>::min())) return {};
  switch (config.method) {
    case formats::LoudnessMethod::kNone:
      return {};
    case formats::LoudnessMethod::kRms:
      return rms_scaling(config, loudness);
    case formats::LoudnessMethod::kLimit:
      if (!(static_cast<double>(loudness.peak) > config.target)) return {};
      [[fallthrough]];
    case formats::LoudnessMethod::kPeak:
      return {.divisor = static_cast<double>(loudness.peak), .last_factor = config.target};
    case formats::LoudnessMethod::kLufs:
      return lufs_scaling(config, loudness);
  }
  return {};
}

// x * factor / divisor * last_factor and the cut, step by step in float32.
template <typename Floats>
Floats scaled(Floats x, float factor, float divisor, float last_factor) {
  return x * factor / divisor * last_factor;
}

float scaled_once(float x, const Scaling& scaling) {
  return static_cast<float>(static_cast<double>(x) * scaling.factor / scaling.divisor *
                            scaling.last_factor);
}

}  // namespace

Result<Loudness> measure_loudness(SampleReader& samples, std::uint64_t first, std::uint64_t count,
                                  std::uint64_t padded_count) {
  if (count == 0) return Loudness{};
  XTTS_ASSIGN(const float energy, pairwise_energy(samples, first, count));
  const auto mean =
      static_cast<float>(static_cast<double>(energy) / static_cast<double>(padded_count));
  Loudness loudness;
  loudness.rms = std::sqrt(mean);
  for (const std::uint64_t end = first + count; first < end;) {
    const auto wanted = static_cast<std::size_t>(
        std::min<std::uint64_t>(SampleReader::kPieceSamplesMax, end - first));
    XTTS_ASSIGN(const auto piece, samples.piece(first, wanted));
    loudness.peak = std::max(loudness.peak, largest_magnitude(piece));
    first += wanted;
  }
  return loudness;
}

Result<double> measure_square_sum(SampleReader& samples, std::uint64_t first, std::uint64_t count) {
  double sums[4] = {};
  for (const std::uint64_t end = first + count; first < end;) {
    const auto wanted = static_cast<std::size_t>(
        std::min<std::uint64_t>(SampleReader::kPieceSamplesMax, end - first));
    XTTS_ASSIGN(const auto piece, samples.piece(first, wanted));
    for (std::size_t i = 0; i < piece.size(); ++i) {
      sums[i % 4] += static_cast<double>(piece[i]) * static_cast<double>(piece[i]);
    }
    first += wanted;
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

float Scaling::gain() const {
  if (rounding == formats::Rounding::kOnce)
    return static_cast<float>(factor / divisor * last_factor);
  return scaled(1.0F, static_cast<float>(factor), static_cast<float>(divisor),
                static_cast<float>(last_factor));
}

Scaling plan_scaling(const formats::LoudnessConfig& config, const Loudness& loudness) {
  Scaling scaling = plan_gain(config, loudness);
  scaling.rounding = config.rounding;
  scaling.clips = config.clip;
  return scaling;
}

void apply_scaling(const Scaling& scaling, std::span<float> samples) {
  const auto factor = static_cast<float>(scaling.factor);
  const auto divisor = static_cast<float>(scaling.divisor);
  const auto last_factor = static_cast<float>(scaling.last_factor);
  if (scaling.rounding == formats::Rounding::kOnce) {
    for (float& sample : samples) sample = scaled_once(sample, scaling);
  } else if (factor != 1.0F || divisor != 1.0F || last_factor != 1.0F) {
    std::size_t i = 0;
    for (; i + 4 <= samples.size(); i += 4) {
      Floats4 four;
      std::memcpy(&four, samples.data() + i, sizeof four);
      four = scaled(four, factor, divisor, last_factor);
      std::memcpy(samples.data() + i, &four, sizeof four);
    }
    for (; i < samples.size(); ++i) samples[i] = scaled(samples[i], factor, divisor, last_factor);
  }
  if (!scaling.clips) return;
  for (float& sample : samples) sample = std::clamp(sample, -1.0F, 1.0F);
}

}  // namespace xtts::dsp
