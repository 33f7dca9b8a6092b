// The conditioned sound of one clip (decoded, mixed, cut, resampled, trimmed, scaled), for people's
// ears: `show --wav`.
#pragma once

#include <string>
#include <vector>

#include "base/env.hpp"
#include "corpus/source_place.hpp"
#include "formats/facts.hpp"
#include "formats/feature_config.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

// `facts` say which part of the source it is; `decoder_command` as in RunConfig.
[[nodiscard]] Result<std::vector<float>> condition_clip(
    Env& env, const std::vector<std::string>& decoder_command, const formats::FeatureConfig& config,
    const corpus::SourcePlace& source, const formats::RecordFacts& facts);

}  // namespace xtts::pipeline
