#include "request/recipe_note.hpp"

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/recipe.hpp"
#include "recipe/recipe_file.hpp"

namespace xtts::request {

std::string recipe_note(Env& env, const formats::Manifest& manifest) {
  const auto stored = formats::recipe_of(manifest);
  if (!stored) return {};
  std::string keys;
  for (const std::string& difference : recipe::differences_from_shipped(env, *stored))
    keys += (keys.empty() ? "" : "; ") + difference;
  if (keys.empty()) return {};
  return formatted("{}. 'xtts-precompute DATA NEW {}' makes a cache by the shipped recipe", keys,
                   option("recipe", manifest.recipe_name));
}

}  // namespace xtts::request
