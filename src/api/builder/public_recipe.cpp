// describe_recipe() of include/xtts/recipe_info.hpp, with the options as src/request reads them.
#include <utility>

#include "api/builder/check_options.hpp"
#include "base/current_exception.hpp"
#include "base/env.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "recipe/trainer_config.hpp"
#include "request/build_options.hpp"
#include "request/json_text.hpp"
#include "request/recipe_json.hpp"
#include "xtts/recipe_info.hpp"

namespace xtts {
namespace {

Result<RecipeReport> describe(Env& env, const BuildOptions& options) {
  std::vector<recipe::TrainerKey> keys;
  const auto on_trainer_config = [&](const recipe::TrainerConfig& config) { keys = config.keys; };
  XTTS_ASSIGN(const formats::Recipe recipe, request::recipe_of(env, options, on_trainer_config));
  return RecipeReport{.features_fingerprint = formats::fingerprint(*recipe.features).to_hex(),
                      .text_fingerprint = formats::fingerprint(recipe.text).to_hex(),
                      .json = request::dump_json(request::recipe_to_json(recipe, keys))};
}

}  // namespace

Result<RecipeReport> describe_recipe(const BuildOptions& options, std::size_t options_bytes) try {
  name_options_as(OptionNames::kFields);
  XTTS_TRY(builder::check_size("BuildOptions", options_bytes, sizeof options));
  XTTS_TRY(builder::check_texts(options, builder::Paths::kNone));
  return describe(Env::real(), options);
} catch (...) {
  return status_of_current_exception();
}

}  // namespace xtts
