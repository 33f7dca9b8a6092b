// The features of clips in memory, as a record holds them: conditioned, extracted, and with pad:
// samples filled up. One thread.
#pragma once

#include <span>
#include <vector>

#include "dsp/condition.hpp"
#include "dsp/extract.hpp"
#include "formats/feature_config.hpp"
#include "xtts/status.hpp"

namespace xtts::testing {

class ClipFeatures {
 public:
  [[nodiscard]] static Result<ClipFeatures> create(const formats::FeatureConfig& config,
                                                   dsp::Isa isa = dsp::Isa::kBest);
  // The recipe's first column of frames, row-major [frames, width]. `samples` are at its rate.
  [[nodiscard]] Result<std::vector<float>> of(std::vector<float> samples);
  [[nodiscard]] std::size_t width() const;

 private:
  [[nodiscard]] dsp::FrameRows rows_in(std::span<float> values) const;
  ClipFeatures(const formats::FeatureConfig& config, dsp::Conditioner conditioner,
               dsp::FeatureExtractor extractor);

  formats::FeatureConfig config_;
  dsp::Conditioner conditioner_;
  dsp::FeatureExtractor extractor_;
};

}  // namespace xtts::testing
