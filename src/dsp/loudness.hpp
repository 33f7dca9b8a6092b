// How loud a clip is, and the factors that make it as loud as the recipe wants. Pure functions;
// only reading the samples can fail.
#pragma once

#include <optional>
#include <span>

#include "dsp/sample_reader.hpp"
#include "formats/feature_enums.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::dsp {

struct Loudness {
  float peak = 0.0F;  // largest |x|; a NaN among the samples shows in rms
  float rms = 0.0F;   // as NumPy's sqrt(mean(x * x)) in float32; not finite where a sample is not,
                      // or exceeds 1e19
  std::optional<double> lufs =
      std::nullopt;  // where the recipe asks for it and there is more than silence
};

// Measures peak and rms of [first, first + count) of a clip. The mean covers `padded_count`
// samples; those beyond `count` are zeros.
[[nodiscard]] Result<Loudness> measure_loudness(SampleReader& samples, std::uint64_t first,
                                                std::uint64_t count, std::uint64_t padded_count);
[[nodiscard]] Result<double> measure_square_sum(SampleReader& samples, std::uint64_t first,
                                                std::uint64_t count);

// x := x * factor / divisor * last_factor, rounded to float32 after each step, or once at the end.
// Then, if `clips`, x is cut to full scale.
//
// The steps stay apart, as in the references (NumPy 2 on float32 arrays). A single factor would
// round the samples differently by an ulp. On real speech that alone moves quiet bins in loud
// frames by 3e-4 in log-mel (nine LJSpeech clips, maximum; a double-precision front end on both).
struct Scaling {
  double factor = 1.0;       // rms, lufs: the factor that reaches the target
  double divisor = 1.0;      // the peak at that point
  double last_factor = 1.0;  // peak, limit: target
  formats::Rounding rounding = formats::Rounding::kEachStep;
  bool clips = false;

  [[nodiscard]] float gain() const;
};

//   rms    x * min(target / (rms + rms_plus), 1 / peak if limit_peak); then_peak_to_one: / peak
//   peak   x / peak * target
//   limit  the same where the peak is above the target
//   lufs   x * min(10^((target - lufs) / 20), 1 / peak if limit_peak)
// No gain for silence (a peak under the smallest normal float32; no lufs).
[[nodiscard]] Scaling plan_scaling(const formats::LoudnessConfig& config, const Loudness& loudness);

void apply_scaling(const Scaling& scaling, std::span<float> samples);

}  // namespace xtts::dsp
