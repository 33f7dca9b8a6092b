// The features section of a manifest back into a FeatureConfig: the inverse of formats::to_json.
#pragma once

#include <nlohmann/json.hpp>

#include "formats/feature_config.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

// kUnsupported where a field is missing, of another type, or a word that this version does not
// know.
[[nodiscard]] Result<FeatureConfig> feature_config_from_json(const nlohmann::json& features);

}  // namespace xtts::formats
