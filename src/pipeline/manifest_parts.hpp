// The recipe's part of a manifest. Pure functions.
#pragma once

#include "formats/manifest.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::pipeline {

// Sets the recipe's name, its four sections and their fingerprints.
void describe_recipe(const formats::Recipe& recipe, formats::Manifest& manifest);

}  // namespace xtts::pipeline
