// What a manifest says of the recipe. Pure functions.
#pragma once

#include "formats/manifest.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::pipeline {

// Name, the four sections and their fingerprints.
void describe_recipe(const formats::Recipe& recipe, formats::Manifest& manifest);

}  // namespace xtts::pipeline
