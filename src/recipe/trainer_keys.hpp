// The meaning of each key of the trainer's config.yaml for features: the rows of keys.yaml in the
// trainer's folder (src/python/xtts_advise/trainers) that have a class. The file is compiled in and
// read once, when somebody first asks. Immutable then; share freely.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recipe/recipe_file.hpp"
#include "recipe/trainer_config.hpp"

namespace xtts::recipe {

// When a key of class kNotReproduced is so: `enable_vad: false` asks for nothing.
enum class When : std::uint8_t { kAlways, kTrue };

struct TrainerRule {
  std::string name;  // "data.n_mels"
  KeyClass kind = KeyClass::kNoEffect;
  std::string recipe_key;  // kHonoured: the key it sets; empty where several are decided together
  std::string note;        // the other classes
  When when = When::kAlways;
  // The trainer's value where the key is absent, as YAML has it; empty: nothing depends on it here,
  // or the recipe says the same.
  std::string trainer_default = {};
  std::string loader_note;  // what a loader does with it that is no cache; empty: nothing
  std::string about;        // "text", "sound", "random sound": what the key changes; mostly empty
};

// The two recipes of the trainer: of use_tf_native_loading, which neither trims nor shifts, and
// without it.
inline constexpr std::string_view kNativeRecipe = "myxtts-tf";
inline constexpr std::string_view kLibrosaRecipe = "myxtts";

[[nodiscard]] std::span<const TrainerRule> trainer_rules();
[[nodiscard]] const TrainerRule* find_trainer_rule(std::string_view name);

// Reads the rules of such a file. kInvalidArgument: names the line and the fault.
[[nodiscard]] Result<std::vector<TrainerRule>> read_trainer_rules(std::string_view yaml,
                                                                  std::string_view origin);

}  // namespace xtts::recipe
