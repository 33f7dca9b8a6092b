// describe_recipe() tells what a build would make, without data and cache. A trainer uses it to
// check that a cache is the one that its config.yaml asks for. Part of libxtts_builder.so.
//
//   auto recipe = xtts::describe_recipe({.config = "config.yaml"});
//   if (recipe.ok()) compare(recipe->features_fingerprint, cache.features_fingerprint());
//
// Any thread may call it. Failures: kInvalidArgument (lists every problem of the given files),
// kNotFound.
#pragma once

#include <cstddef>
#include <string>

#include "xtts/builder.hpp"

namespace xtts {

struct RecipeReport {
  std::string features_fingerprint = {};  // 32 hexadecimal digits, as in Cache
  std::string text_fingerprint = {};
  // {"name", "sections", "fingerprints", "ignored", "config"}. "sections" and "fingerprints": the
  // four sections of the recipe and their fingerprints, as in a cache's manifest.json. "ignored":
  // the recipe's keys that mean nothing beside the others; as settings they would be refused.
  // "config": one entry for each key of the trainer's config:
  //
  //   "key": "data.n_mels"
  //   "class": "honoured" | "no effect" | "not reproduced"
  //   "note"
  //   "recipe_key": the recipe's key that it has set
  //   "value": as written; "a list" or the like if it is not a single value; or null
  //   "items": of a list of single values
  //   "default": the file lacks the key; the trainer then uses this value
  //   "loader": what a loader without a cache does with the key; "" if nothing
  //   "about": "text", "sound" or "random sound", which the key changes; mostly ""
  std::string json = {};
};

// Only the options that make the recipe are used: recipe, config, settings, and layout_of_data,
// language, store, layout and dtype, which are short forms of settings. Leave `options_bytes` at
// its default (builder.hpp).
[[nodiscard]] XTTS_API Result<RecipeReport> describe_recipe(
    const BuildOptions& options, std::size_t options_bytes = sizeof(BuildOptions));

}  // namespace xtts
