// Parts of a manifest that follow from the recipe and from sums alone. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "formats/manifest.hpp"
#include "formats/recipe.hpp"

namespace xtts::pipeline {

// Name, the four sections and their fingerprints.
void describe_recipe(const formats::Recipe& recipe, formats::Manifest& manifest);

// From per channel sums, then per channel sums of squares; nothing where there are no frames,
// or where a sum is not finite.
[[nodiscard]] std::optional<formats::Statistics> statistics_of(std::uint64_t frame_count,
                                                               std::span<const double> sums);

}  // namespace xtts::pipeline
