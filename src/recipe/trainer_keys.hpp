// What each key of the trainer's config.yaml means for features: one table. It holds for
// masoodafar-web/MyXTTSModel at 7e78353: its keys and defaults are those of
// myxtts/config/config.py, their meaning is that of the code that reads them (myxtts/data/,
// myxtts/utils/audio.py). Keys that only other versions or its users' notes have are in it, too.
// Constants. tests/python/test_myxtts_trainer.py compares the table with the trainer's own
// DataConfig.
#pragma once

#include <span>
#include <string_view>

#include "recipe/recipe_file.hpp"
#include "recipe/trainer_config.hpp"

namespace xtts::recipe {

// When a key of class kNotReproduced is so: `enable_vad: false` asks for nothing.
enum class When : std::uint8_t { kAlways, kTrue };

struct TrainerRule {
  std::string_view name;  // "data.n_mels"
  KeyClass kind;
  std::string_view
      recipe_key;         // kHonoured: the key it sets; empty where several are decided together
  std::string_view note;  // the other classes
  When when = When::kAlways;
  // What the trainer takes where the key is absent, as YAML has it; empty: nothing depends on it
  // here, or the recipe says the same.
  std::string_view trainer_default = {};
};

// The two recipes of the trainer: of use_tf_native_loading, which neither trims nor shifts, and
// without it.
inline constexpr std::string_view kNativeRecipe = "myxtts-tf";
inline constexpr std::string_view kLibrosaRecipe = "myxtts";

[[nodiscard]] std::span<const TrainerRule> trainer_rules();
[[nodiscard]] const TrainerRule* find_trainer_rule(std::string_view name);

}  // namespace xtts::recipe
