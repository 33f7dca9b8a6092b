// A recipe as JSON, with the effect of each key of the trainer's config. Pure function.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "formats/recipe_fwd.hpp"
#include "recipe/trainer_config.hpp"

namespace xtts::request {

// Gives {"name", "normalization" (formats/normalization.hpp), "sections": {features, text, corpus,
// storage}, "fingerprints": {the same names}, "config": [{"key", "class", "note", "recipe_key",
// "value", "items", "default", "loader", "about"}]}. Sections and fingerprints are those of a
// cache's manifest.json.
[[nodiscard]] nlohmann::json recipe_to_json(const formats::Recipe& recipe,
                                            const std::vector<recipe::TrainerKey>& keys);

}  // namespace xtts::request
