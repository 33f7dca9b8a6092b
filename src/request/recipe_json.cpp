#include "request/recipe_json.hpp"

#include <array>
#include <string_view>

#include "formats/canonical_json.hpp"
#include "formats/normalization.hpp"
#include "recipe/key_table.hpp"

namespace xtts::request {
namespace {

// The names are in the order of the enumeration.
constexpr std::array<std::string_view, 3> kClassNames{"honoured", "no effect", "not reproduced"};

nlohmann::json key_to_json(const recipe::TrainerKey& key) {
  const auto value = key.value ? nlohmann::json(*key.value) : nlohmann::json();
  return {{"key", key.key},
          {"class", kClassNames.at(static_cast<std::size_t>(key.kind))},
          {"note", key.note},
          {"recipe_key", key.recipe_key},
          {"value", value},
          {"items", key.items},
          {"default", key.is_default},
          {"loader", key.loader_note},
          {"about", key.about}};
}

nlohmann::json ignored_keys(const formats::Recipe& recipe) {
  nlohmann::json names = nlohmann::json::array();
  for (const recipe::Key& key : recipe::key_table()) {
    if (!recipe::why_ignored(key, recipe).empty()) names.push_back(key.name);
  }
  return names;
}

}  // namespace

nlohmann::json recipe_to_json(const formats::Recipe& recipe,
                              const std::vector<recipe::TrainerKey>& keys) {
  nlohmann::json config = nlohmann::json::array();
  for (const recipe::TrainerKey& key : keys) config.push_back(key_to_json(key));
  return {{"name", recipe.name},
          {"normalization", formats::to_json(formats::normalization_of(*recipe.features))},
          {"sections",
           {{"features", formats::to_json(*recipe.features)},
            {"text", formats::to_json(recipe.text)},
            {"corpus", formats::to_json(recipe.corpus)},
            {"storage", formats::to_json(recipe.storage)}}},
          {"fingerprints",
           {{"features", formats::fingerprint(*recipe.features).to_hex()},
            {"text", formats::fingerprint(recipe.text).to_hex()},
            {"corpus", formats::fingerprint(recipe.corpus).to_hex()},
            {"storage", formats::fingerprint(recipe.storage).to_hex()}}},
          {"ignored", ignored_keys(recipe)},
          {"config", config}};
}

}  // namespace xtts::request
