// The features of a clip in memory, as a record holds them: conditioned, extracted, and with pad:
// samples filled up.
#pragma once

#include <vector>

#include "formats/feature_config.hpp"
#include "xtts/status.hpp"

namespace xtts::testing {

// Row-major [frames, channels]. `samples` are at the recipe's rate.
[[nodiscard]] Result<std::vector<float>> clip_features(const formats::FeatureConfig& config,
                                                       std::vector<float> samples);

}  // namespace xtts::testing
