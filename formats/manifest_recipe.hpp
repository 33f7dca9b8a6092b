// The recipe that a manifest keeps: its four sections back into structs, the inverse of
// formats::to_json. Pure function.
#pragma once

#include "formats/manifest.hpp"
#include "formats/recipe_fwd.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

// Without `about` and `fits`, which are no part of a cache. kUnsupported where a field is missing,
// of another type, or a word that this version does not know.
[[nodiscard]] Result<Recipe> recipe_of(const Manifest& manifest);

}  // namespace xtts::formats
