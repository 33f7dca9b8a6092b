#include <algorithm>
#include <string>
#include <vector>

#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/feature_config.hpp"
#include "recipe/message.hpp"
#include "recipe/recipe_file.hpp"
#include "recipe/shipped.hpp"
#include "recipe/yaml_tree.hpp"

namespace xtts::recipe {
namespace {

bool is_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".yaml") ||
         name.ends_with(".yml");
}

Status unknown_recipe(const std::string& name) {
  const std::vector<std::string> names = shipped_names();
  std::string near = nearest_name(name, names);
  for (const std::string& shipped : names) {  // "whisper" is short for several
    if (shipped.starts_with(name + "-")) near += (near.empty() ? "" : "' or '") + shipped;
  }
  const std::string message =
      "no recipe '" + name + "'" + (near.empty() ? "." : "; did you mean '" + near + "'?");
  return {StatusCode::kNotFound, message +
                                     " 'xtts-precompute recipes' lists the shipped ones; the path "
                                     "of a file holds a '/' or ends in .yaml"};
}

}  // namespace

std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  for (const ShippedRecipe& recipe : shipped_recipes()) names.emplace_back(recipe.name);
  std::sort(names.begin(), names.end());
  return names;
}

bool has_features_of_its_name(Env& env, const formats::Recipe& recipe) {
  const std::vector<std::string> names = shipped_names();
  if (std::find(names.begin(), names.end(), recipe.name) == names.end()) return false;
  auto shipped = load(env, recipe.name);
  if (!shipped) return false;
  formats::FeatureConfig& features = *shipped->features;
  // Further columns beside those that it fits with change nothing.
  const formats::ColumnsConfig& columns = recipe.features->columns;
  if (columns.mel < features.columns.mel || columns.linear < features.columns.linear) return false;
  features.columns = columns;
  features.max_frames = recipe.features->max_frames;
  features.pad_value = recipe.features->pad_value;
  features.too_long = recipe.features->too_long;
  features.precision = recipe.features->precision;
  return formats::to_json(features) == formats::to_json(*recipe.features);
}

Result<formats::Recipe> load(Env& env, const std::string& name_or_path) {
  if (is_path(name_or_path)) {
    XTTS_ASSIGN(const std::string yaml, read_text_file(env, name_or_path, kYamlBytesMax));
    return parse(env, yaml, name_or_path, parent_path(name_or_path));
  }
  const auto shipped = shipped_recipes();
  const auto found = std::find_if(shipped.begin(), shipped.end(), [&](const ShippedRecipe& recipe) {
    return recipe.name == name_or_path;
  });
  if (found == shipped.end()) return unknown_recipe(name_or_path);
  return parse(env, found->yaml, "configs/recipes/" + std::string(found->name) + ".yaml", ".");
}

}  // namespace xtts::recipe
