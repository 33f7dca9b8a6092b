// How loud a clip is, and the factors that make it as loud as the recipe wants. Pure functions;
// only reading the samples can fail.
#pragma once

#include <span>

#include "dsp/sample_reader.hpp"
#include "formats/feature_config.hpp"

namespace xtts::dsp {

struct Loudness {
  float peak = 0.0F;  // largest |x|; a NaN among the samples shows in rms
  float rms = 0.0F;   // as NumPy's sqrt(mean(x * x)) in float32; not finite where a sample is not,
                      // or exceeds 1e19
};

// Of [first, first + count) of a clip.
[[nodiscard]] Result<Loudness> measure_loudness(SampleReader& samples, std::uint64_t first,
                                                std::uint64_t count);

// x := x * factor / divisor * last_factor, each step rounded to float32.
//
// The steps stay apart, as in the references (NumPy 2 on float32 arrays): one factor for all of
// them would round the samples differently by an ulp, and on real speech that alone moves quiet
// bins in loud frames by 3e-4 in log-mel (nine LJSpeech clips, maximum; a double-precision front
// end on both).
struct Scaling {
  float factor = 1.0F;       // rms: target / rms
  float divisor = 1.0F;      // the peak at that point
  float last_factor = 1.0F;  // peak: target

  [[nodiscard]] float gain() const { return factor / divisor * last_factor; }
};

//   rms   x * (target / rms); where the peak would pass 1 (limit_peak), / peak; then_peak_to_one: /
//   peak peak  x / peak * target
// Identity for silence (a peak under the smallest normal float32).
[[nodiscard]] Scaling plan_scaling(const formats::LoudnessConfig& config, const Loudness& loudness);

void apply_scaling(const Scaling& scaling, std::span<float> samples);

}  // namespace xtts::dsp
