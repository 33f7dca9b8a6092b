#include "request/stored_recipe.hpp"

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "formats/feature_config.hpp"
#include "formats/manifest_recipe.hpp"
#include "reader/manifest_file.hpp"
#include "store/generations.hpp"

namespace xtts::request {
namespace {

Status recipe_is_lost(const std::string& cache, const std::string& why) {
  return {StatusCode::kInvalidArgument,
          formatted("{} keeps the recipe of a cache, but that of {} cannot be read ({}): say with "
                    "{} or {} what to build",
                    option_on("overwrite"), cache, why, option("recipe", "NAME"),
                    option("config", "FILE"))};
}

// Without a manifest, or with a damaged one, a build tells what to do. --overwrite would not: it
// would make a cache by the default recipe.
Result<std::optional<formats::Manifest>> stored_manifest(Env& env, const BuildOptions& options) {
  auto loaded = reader::load_manifest(env, options.cache);
  if (loaded) return std::optional(std::move(loaded->manifest));
  const Status& failure = loaded.status();
  if (failure.code() == StatusCode::kResource) return failure;
  const bool is_lost =
      failure.code() != StatusCode::kNotFound || store::is_manifest_lost(env, options.cache);
  if (options.overwrite && is_lost) return recipe_is_lost(options.cache, failure.message());
  return std::optional<formats::Manifest>();
}

}  // namespace

Result<std::optional<StoredRecipe>> stored_recipe(
    Env& env, const BuildOptions& options,
    const std::function<Status(formats::Recipe& recipe)>& change) {
  if (!options.recipe.empty() || !options.config.empty() || options.cache.empty())
    return std::optional<StoredRecipe>();
  XTTS_ASSIGN(const auto manifest, stored_manifest(env, options));
  if (!manifest) return std::optional<StoredRecipe>();
  auto stored = formats::recipe_of(*manifest);
  if (!stored && options.overwrite) return recipe_is_lost(options.cache, stored.status().message());
  if (!stored) return stored.status();
  stored->features->baked = {};  // `convert` makes it; no build does
  formats::Recipe recipe = *stored;
  XTTS_TRY(change(recipe));
  // The number of tokens is of the tokens that the cache has. It says nothing of others, and the
  // format's own number stands where there were no texts.
  const bool makes_tokens = recipe.text.store && recipe.text.tokens != formats::TokenKind::kNone;
  const bool is_alike = recipe.text.tokens == stored->text.tokens;
  const bool says_nothing = manifest->find_column("tokens") == nullptr &&
                            stored->text.max_tokens == formats::TextConfig().max_tokens;
  if (makes_tokens && (!is_alike || says_nothing)) {
    recipe = std::move(*stored);
    recipe.text.max_tokens = formats::RecordLength::of_corpus();
    XTTS_TRY(change(recipe));
  }
  return std::optional(StoredRecipe{.recipe = std::move(recipe), .index = manifest->index_digest});
}

dsp::Isa isa_for(Env& env, const std::string& cache, dsp::Isa asked) {
  if (asked != dsp::Isa::kBest || cache.empty()) return asked;
  const auto loaded = reader::load_manifest(env, cache);
  if (!loaded) return asked;
  for (const dsp::Isa isa : {dsp::Isa::kScalar, dsp::Isa::kAvx2, dsp::Isa::kAvx512}) {
    const bool is_of_cache = dsp::to_string(isa) == loaded->manifest.numerics.isa;
    if (is_of_cache && isa <= dsp::best_isa()) return isa;
  }
  return asked;
}

}  // namespace xtts::request
