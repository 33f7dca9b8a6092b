#include "pipeline/manifest_parts.hpp"

#include "formats/canonical_json.hpp"
#include "formats/recipe.hpp"

namespace xtts::pipeline {

void describe_recipe(const formats::Recipe& recipe, formats::Manifest& manifest) {
  manifest.recipe_name = recipe.name;
  manifest.features = to_json(*recipe.features);
  manifest.text = to_json(recipe.text);
  manifest.corpus = to_json(recipe.corpus);
  manifest.storage = to_json(recipe.storage);
  manifest.features_fingerprint = formats::fingerprint(*recipe.features);
  manifest.text_fingerprint = formats::fingerprint(recipe.text);
  manifest.corpus_fingerprint = formats::fingerprint(recipe.corpus);
  manifest.storage_fingerprint = formats::fingerprint(recipe.storage);
}

}  // namespace xtts::pipeline
