// The recipes of configs/recipes and the tables of configs/text, as embed_files.cmake compiles them
// in. Constants.
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

}  // namespace xtts::recipe
