#include "tests/golden/recipes/clip_features.hpp"

#include "base/try.hpp"
#include "dsp/condition.hpp"
#include "dsp/extract.hpp"

namespace xtts::testing {

Result<std::vector<float>> clip_features(const formats::FeatureConfig& config,
                                         std::vector<float> samples) {
  const bool pads_samples = config.pad == formats::PadWhat::kSamples;
  XTTS_ASSIGN(auto conditioner, dsp::Conditioner::create(config));
  XTTS_ASSIGN(auto extractor, dsp::FeatureExtractor::create(config));
  XTTS_TRY(conditioner.apply(samples).status());
  if (pads_samples && samples.size() > config.padded_samples())
    samples.resize(static_cast<std::size_t>(config.padded_samples()));
  std::vector<float> values(extractor.frame_count(samples.size()) * config.channel_count());
  XTTS_ASSIGN(const dsp::Extracted extracted, extractor.extract(samples, values));
  if (pads_samples)
    values.resize(std::size_t{config.max_frames} * config.channel_count(), extracted.fill);
  return values;
}

}  // namespace xtts::testing
