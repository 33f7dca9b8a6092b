// Recipes as people write them: YAML with a strict schema. An unknown, doubled, wrongly typed or
// ignored key is an error that names line, key and the nearest key that exists. `--set
// features.mel.n_mels=100` (or the short `mel.n_mels=100`) goes through the same table of keys, so
// a key exists in both or in neither. Free functions; share freely. All failures are
// kInvalidArgument (or kNotFound for a name or file), and a message lists every problem found, one
// a line.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "formats/recipe.hpp"
#include "xtts/status.hpp"

namespace xtts::recipe {

// The shipped recipes (configs/recipes/*.yaml, compiled in), sorted by name.
[[nodiscard]] std::vector<std::string> shipped_names();

// Whether its features are those of the shipped recipe of its name, but for how many frames there
// are, what pads them, and the precision: what the shipped one fits, it fits.
[[nodiscard]] bool has_features_of_its_name(Env& env, const formats::Recipe& recipe);

// `name_or_path`: a shipped name, or the path of a YAML file (anything with a '/' or ending in
// .yaml or .yml).
[[nodiscard]] Result<formats::Recipe> load(Env& env, const std::string& name_or_path);
// `folder`: what relative file names in the recipe (text.vocabulary_file) are relative to.
[[nodiscard]] Result<formats::Recipe> parse(Env& env, std::string_view yaml,
                                            std::string_view origin, const std::string& folder);
// Keys that lose their meaning by it (loudness.target after loudness.method=none) go back to their
// defaults. Two keys may contradict each other until the last setting is applied: call check()
// then. On failure the recipe is unchanged.
[[nodiscard]] Status apply_setting(Env& env, formats::Recipe& recipe,
                                   std::string_view key_equals_value);
// Several, in whatever order they were given: those that give others their meaning
// (loudness.method before loudness.target) come first. Stops at the first failure.
[[nodiscard]] Status apply_settings(Env& env, formats::Recipe& recipe,
                                    const std::vector<std::string>& settings);
// validate() of all four sections, each problem with its full key.
[[nodiscard]] Status check(const formats::Recipe& recipe);
// Every key with every default filled in, commented, and parse()able: parse(to_yaml(r)) is r for
// every r that parse, apply_setting or apply_trainer_config gave and check() accepts. Keys without
// meaning in r appear as comments.
[[nodiscard]] std::string to_yaml(const formats::Recipe& recipe);

// The trainer's own config.yaml (NEEDS.md lists its keys), laid over a recipe.
enum class KeyClass { kHonoured, kNoEffect, kNotReproduced };
struct TrainerKey {
  std::string key;  // "data.n_mels"
  KeyClass kind = KeyClass::kHonoured;
  std::string note;  // one line for a person: what was done with it, or why it cannot be reproduced
  std::string recipe_key = {};  // kHonoured: "corpus.subset_seed", which it has set
  std::optional<std::string> value =
      {};                               // as the file writes it; unset where it is a list or empty
  std::vector<std::string> items = {};  // of a list of single values
  bool is_default = false;              // the file does not have it: this is what the trainer takes
};
struct TrainerConfig {
  formats::Recipe recipe;
  std::vector<TrainerKey> keys;  // in the file's order; behind them, what is absent and matters
  // For a person, a line each: which recipe it was laid over, and why, where nobody has named one;
  // which of its lists is left out.
  std::vector<std::string> choices;
};
// `base`: the recipe that somebody has named. Without one it is that of the features that the
// trainer trains on: myxtts-tf where use_tf_native_loading is on, as it is by default, else myxtts.
// Over these two, absent keys are as the trainer's own defaults have them. What the trainer cuts is
// cut (features.too_long, text.too_long), where a recipe would leave the clip out.
[[nodiscard]] Result<TrainerConfig> apply_trainer_config(Env& env, const std::string& path,
                                                         std::optional<formats::Recipe> base);
// The trainer has two folders, each with a list of its own. Where DATA holds one of the two lists,
// that one is the list of DATA.
void keep_list_of_data(Env& env, const std::string& data, TrainerConfig& config);

// The nearest of `candidates` by edit distance; empty when none is near.
[[nodiscard]] std::string nearest_name(std::string_view name,
                                       const std::vector<std::string>& candidates);

}  // namespace xtts::recipe
