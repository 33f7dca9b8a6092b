// The recipe that a manifest keeps: its four sections back into structs, the inverse of
// formats::to_json. Pure functions. kUnsupported where a field is missing, of another type, or a
// word that this version does not know.
#pragma once

#include <nlohmann/json.hpp>

#include "formats/manifest.hpp"
#include "formats/recipe_fwd.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

// Without `about` and `fits`, which are no part of a cache.
[[nodiscard]] Result<Recipe> recipe_of(const Manifest& manifest);
[[nodiscard]] Result<FeatureConfig> feature_config_from_json(const nlohmann::json& features);

}  // namespace xtts::formats
