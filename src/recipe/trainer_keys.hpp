// What each key of the trainer's config.yaml means for features: one table, from
// masoodafar-web/MyXTTSModel at 7e78353 (myxtts/config/config.py and where its loaders read the
// keys) and the keys its users list. Constants.
#pragma once

#include <span>
#include <string_view>

#include "recipe/recipe_file.hpp"

namespace xtts::recipe {

// When a key of class kNotReproduced is so: `enable_vad: false` asks for nothing.
enum class When : std::uint8_t { kAlways, kTrue, kNotEmpty };

struct TrainerRule {
  std::string_view name;  // "data.n_mels"
  KeyClass kind;
  std::string_view
      recipe_key;         // kHonoured: the key it sets; empty where several are decided together
  std::string_view note;  // the other classes
  When when = When::kAlways;
};

// The recipe of its use_tf_native_loading, which neither trims nor shifts.
inline constexpr std::string_view kNativeRecipe = "myxtts-tf";

[[nodiscard]] std::span<const TrainerRule> trainer_rules();
[[nodiscard]] const TrainerRule* find_trainer_rule(std::string_view name);

}  // namespace xtts::recipe
