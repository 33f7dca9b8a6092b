#include "formats/manifest_recipe.hpp"

#include "base/try.hpp"
#include "formats/feature_config_json.hpp"
#include "formats/recipe.hpp"
#include "formats/section_fields.hpp"
#include "formats/section_members.hpp"

namespace xtts::formats {
Result<Recipe> recipe_of(const Manifest& manifest) {
  Recipe recipe;
  recipe.name = manifest.recipe_name;
  XTTS_ASSIGN(recipe.features, feature_config_from_json(manifest.features));
  std::string problem;
  SectionMembers text(manifest.text, "text", problem);
  visit_text(recipe.text, text);
  SectionMembers corpus(manifest.corpus, "corpus", problem);
  visit_corpus(recipe.corpus, corpus);
  SectionMembers storage(manifest.storage, "storage", problem);
  visit_storage(recipe.storage, storage);
  if (!problem.empty()) return Status(StatusCode::kUnsupported, problem);
  return recipe;
}

}  // namespace xtts::formats
