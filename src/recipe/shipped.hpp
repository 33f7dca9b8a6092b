// The recipes of configs/recipes, the tables of configs/text and the keys of each trainer
// (src/python/xtts_advise/trainers), as embed_files.cmake compiles them in. Constants.
#pragma once

#include <span>
#include <string_view>

namespace xtts::recipe {

struct ShippedRecipe {
  std::string_view name;
  std::string_view yaml;
};

[[nodiscard]] std::span<const ShippedRecipe> shipped_recipes();  // sorted by name

struct ShippedTable {
  std::string_view name;
  std::string_view text;
};

[[nodiscard]] std::span<const ShippedTable> shipped_text_tables();  // sorted by name

struct ShippedTrainer {
  std::string_view name;  // of its folder
  std::string_view keys;  // keys.yaml
};

[[nodiscard]] std::span<const ShippedTrainer> shipped_trainers();  // sorted by name

}  // namespace xtts::recipe
