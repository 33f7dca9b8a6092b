// Reads the recipe of a manifest: its four sections back into structs, the inverse of
// formats::to_json. Pure functions. kUnsupported where a field is missing, has another type, or is
// a word that this version does not know.
#pragma once

#include <nlohmann/json.hpp>

#include "formats/manifest.hpp"
#include "formats/recipe_fwd.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

// The result has no `about` and `fits`, because a cache does not keep them.
[[nodiscard]] Result<Recipe> recipe_of(const Manifest& manifest);
[[nodiscard]] Result<FeatureConfig> feature_config_from_json(const nlohmann::json& features);

}  // namespace xtts::formats
