#include "formats/manifest_recipe.hpp"

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/feature_members.hpp"
#include "formats/recipe.hpp"
#include "formats/recipe_members.hpp"
#include "formats/section_reader.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

// Checks the values that later code computes with unchecked.
std::string find_problem(const FeatureConfig& config) {
  const BakedConfig& baked = config.baked;
  if (baked.mean.empty() && baked.std_deviation.empty()) return {};
  const std::size_t count = config.channel_count();
  if (baked.mean.size() != count || baked.std_deviation.size() != count)
    return formatted("features.baked is not of {} channels", count);
  const bool is_float = baked.dtype == DType::kFloat32 || baked.dtype == DType::kFloat16 ||
                        baked.dtype == DType::kBFloat16;
  return is_float ? "" : "features.baked.dtype is no float type";
}

}  // namespace

Result<FeatureConfig> feature_config_from_json(const json& features) {
  FeatureConfig config;
  std::string problem;
  read_section(features, "features", kFeatureMembers, config, problem);
  if (problem.empty()) problem = find_problem(config);
  if (!problem.empty()) return Status(StatusCode::kUnsupported, problem);
  return config;
}

Result<Recipe> recipe_of(const Manifest& manifest) {
  Recipe recipe;
  recipe.name = manifest.recipe_name;
  XTTS_ASSIGN(*recipe.features, feature_config_from_json(manifest.features));
  std::string problem;
  read_section(manifest.text, "text", kTextMembers, recipe.text, problem);
  read_section(manifest.corpus, "corpus", kCorpusMembers, recipe.corpus, problem);
  read_section(manifest.storage, "storage", kStorageMembers, recipe.storage, problem);
  if (!problem.empty()) return Status(StatusCode::kUnsupported, problem);
  return recipe;
}

}  // namespace xtts::formats
