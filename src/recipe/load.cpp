#include <algorithm>
#include <string>
#include <vector>

#include "base/formatted.hpp"
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

bool is_shipped(const std::string& name) {
  return std::ranges::any_of(shipped_recipes(),
                             [&](const ShippedRecipe& recipe) { return recipe.name == name; });
}

Status unknown_recipe(const std::string& name) {
  const std::vector<std::string> names = shipped_names();
  std::string near = nearest_name(name, names);
  for (const std::string& shipped : names) {  // "whisper" is short for several
    if (shipped.starts_with(name + "-")) near += (near.empty() ? "" : "' or '") + shipped;
  }
  const std::string message = formatted(
      "no recipe '{}'{}", name, near.empty() ? "." : formatted("; did you mean '{}'?", near));
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

std::vector<std::string> differences_from_shipped(Env& env, const formats::Recipe& recipe) {
  if (!is_shipped(recipe.name)) return {};
  auto shipped = load(env, recipe.name);
  if (!shipped) return {};
  formats::FeatureConfig& features = *shipped->features;
  const formats::FeatureConfig& own = *recipe.features;
  // Further columns beside those that it fits with change nothing.
  const formats::ColumnsConfig& columns = own.columns;
  if (columns.mel >= features.columns.mel && columns.linear >= features.columns.linear)
    features.columns = columns;
  features.max_frames = own.max_frames;
  features.pad_value = own.pad_value;
  features.too_long = own.too_long;
  features.precision = own.precision;
  features.baked = own.baked;
  if (own.normalize.method == formats::NormalizeMethod::kChannels)
    features.normalize = own.normalize;  // by a file that comes with a model's weights
  return formats::describe_differences(formats::to_json(own), formats::to_json(features),
                                       "features",
                                       {.in_first = "here",
                                        .in_second = "in the shipped recipe",
                                        .not_in_second = "absent in the shipped recipe"});
}

bool has_features_of_its_name(Env& env, const formats::Recipe& recipe) {
  return is_shipped(recipe.name) && differences_from_shipped(env, recipe).empty();
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
  return parse(env, found->yaml, formatted("configs/recipes/{}.yaml", found->name), ".");
}

}  // namespace xtts::recipe
