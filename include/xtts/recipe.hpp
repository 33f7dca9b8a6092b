// What a build would make, without data and cache: for trainers that want to know whether a cache
// is the one that their config.yaml asks for. Part of libxtts_builder.so.
//
//   auto recipe = xtts::describe_recipe({.config = "config.yaml"});
//   if (recipe.ok()) compare(recipe->features_fingerprint, cache.features_fingerprint());
//
// Any thread. Failures: kInvalidArgument with every problem of the files that were given,
// kNotFound.
#pragma once

#include <cstddef>
#include <string>

#include "xtts/builder.hpp"

namespace xtts {

struct RecipeReport {
  std::string features_fingerprint = {};  // 32 hexadecimal digits, as Cache has them
  std::string text_fingerprint = {};
  // {"name", "sections", "fingerprints", "config"}: the four sections of the recipe and their
  // fingerprints as in a cache's manifest.json, and of the trainer's config each key with what it
  // has come to: {"key": "data.n_mels", "class": "honoured" | "no effect" | "not reproduced",
  // "note", "recipe_key": the key of the recipe that it has set, "value": as it is written,
  // "a list" or the like where it is no single one, or null, "items": of a list of single values,
  // "default": the file lacks it, and this is what the trainer takes then}.
  std::string json = {};
};

// Of the options those count that make the recipe: recipe, config, settings, and layout_of_data,
// language, store, layout and dtype, which are short for settings. `options_bytes` is not for you
// to give (builder.hpp).
[[nodiscard]] XTTS_API Result<RecipeReport> describe_recipe(
    const BuildOptions& options, std::size_t options_bytes = sizeof(BuildOptions));

}  // namespace xtts
