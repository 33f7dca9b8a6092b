#include "tests/golden/recipes/clip_features.hpp"

#include <utility>

#include "base/try.hpp"
#include "formats/sound_columns.hpp"

namespace xtts::testing {

ClipFeatures::ClipFeatures(const formats::FeatureConfig& config, dsp::Conditioner conditioner,
                           dsp::FeatureExtractor extractor)
    : config_(config), conditioner_(std::move(conditioner)), extractor_(std::move(extractor)) {}

Result<ClipFeatures> ClipFeatures::create(const formats::FeatureConfig& config, dsp::Isa isa) {
  XTTS_ASSIGN(auto conditioner, dsp::Conditioner::create(config));
  XTTS_ASSIGN(auto extractor, dsp::FeatureExtractor::create(config, isa));
  return ClipFeatures(config, std::move(conditioner), std::move(extractor));
}

Result<std::vector<float>> ClipFeatures::of(std::vector<float> samples) {
  const bool pads_samples = config_.pad == formats::PadWhat::kSamples;
  XTTS_TRY(conditioner_.apply(samples).status());
  if (pads_samples && samples.size() > config_.padded_samples())
    samples.resize(static_cast<std::size_t>(config_.padded_samples()));
  std::vector<float> values(extractor_.frame_count(samples.size()) * width());
  XTTS_ASSIGN(const dsp::Extracted extracted, extractor_.extract(samples, rows_in(values)));
  if (pads_samples)
    values.resize(std::size_t{config_.max_frames} * width(),
                  extracted.fills[formats::sound_columns_of(config_).front()]);
  return values;
}

std::size_t ClipFeatures::width() const {
  const auto shape = formats::info_of(formats::sound_columns_of(config_).front()).shape(config_);
  return shape.size() > 1 ? shape[1] : 1;
}

dsp::FrameRows ClipFeatures::rows_in(std::span<float> values) const {
  dsp::FrameRows rows;
  rows[formats::sound_columns_of(config_).front()] = values;
  return rows;
}

}  // namespace xtts::testing
