// The conditioned sound of one source (decoded, mixed, resampled, trimmed, scaled), for people's
// ears: `show --wav`.
#pragma once

#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/feature_config.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

[[nodiscard]] Result<std::vector<float>> condition_clip(Env& env,
                                                        const formats::FeatureConfig& config,
                                                        const std::string& source_path);

}  // namespace xtts::pipeline
