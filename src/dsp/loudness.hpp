// How loud a clip is, and the one factor that makes it as loud as the recipe wants. Pure functions;
// no failure.
#pragma once

#include <span>

#include "formats/feature_config.hpp"

namespace xtts::dsp {

struct Loudness {
  float peak = 0.0F;  // largest |x|; a NaN among the samples shows in rms
  double rms = 0.0;   // not finite where a sample is not, or exceeds 1e19
};

[[nodiscard]] Loudness measure_loudness(std::span<const float> samples);

// All of the steps' factors together; 1 for silence (a peak under the smallest normal float32).
// then_peak_to_one overrides what came before it: dividing by the peak undoes any earlier gain.
[[nodiscard]] double loudness_gain(const formats::LoudnessConfig& config, const Loudness& loudness);

// x := x * gain, in double and rounded once, so that a gain of 1 / peak makes the peak exactly 1.
void scale(std::span<float> samples, double gain);

}  // namespace xtts::dsp
