// The recipes of configs/recipes, as embed_recipes.cmake compiles them in. Constants.
#pragma once

#include <span>
#include <string_view>

namespace xtts::recipe {

struct ShippedRecipe {
  std::string_view name;
  std::string_view yaml;
};

[[nodiscard]] std::span<const ShippedRecipe> shipped_recipes();  // sorted by name

}  // namespace xtts::recipe
