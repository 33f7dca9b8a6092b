#include "formats/feature_config_json.hpp"

#include "formats/section_fields.hpp"
#include "formats/section_members.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

// What is computed with without asking again.
std::string find_problem(const FeatureConfig& config) {
  const BakedConfig& baked = config.baked;
  if (baked.mean.empty() && baked.std_deviation.empty()) return {};
  const std::size_t count = config.channel_count();
  if (baked.mean.size() != count || baked.std_deviation.size() != count)
    return "features.baked is not of " + std::to_string(count) + " channels";
  const bool is_float = baked.dtype == DType::kFloat32 || baked.dtype == DType::kFloat16 ||
                        baked.dtype == DType::kBFloat16;
  return is_float ? "" : "features.baked.dtype is no float type";
}

}  // namespace

Result<FeatureConfig> feature_config_from_json(const json& features) {
  FeatureConfig config;
  std::string problem;
  SectionMembers members(features, "features", problem);
  visit_features(config, members);
  if (problem.empty()) problem = find_problem(config);
  if (!problem.empty()) return Status(StatusCode::kUnsupported, problem);
  return config;
}

}  // namespace xtts::formats
