// The trainer's own config.yaml (docs in README.md), laid over a recipe. Failures:
// kInvalidArgument, kNotFound. Free functions; share freely.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/recipe.hpp"
#include "xtts/status.hpp"

namespace xtts::recipe {

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
  std::string loader_note = {};         // as in TrainerRule
  std::string about = {};
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

}  // namespace xtts::recipe
