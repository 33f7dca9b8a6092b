// What a person (or a program, as JSON) is told before and after a build. Pure: texts in, nothing
// printed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/recipe.hpp"
#include "pipeline/build.hpp"

namespace xtts::cli {

[[nodiscard]] std::string describe_preview(const pipeline::BuildRequest& request,
                                           const pipeline::BuildPreview& preview);
[[nodiscard]] nlohmann::json preview_to_json(const pipeline::BuildRequest& request,
                                             const pipeline::BuildPreview& preview);

[[nodiscard]] std::string describe_report(const pipeline::BuildRequest& request,
                                          const pipeline::BuildReport& report, double elapsed_s);
[[nodiscard]] nlohmann::json report_to_json(const pipeline::BuildRequest& request,
                                            const pipeline::BuildReport& report, double elapsed_s);

// Rejects of one kind: same class, stage and reason but for the numbers and quoted names in it.
struct RejectGroup {
  std::string kind;   // "policy"
  std::string stage;  // "features"
  std::uint64_t count = 0;
  std::string example_path;
  std::string example_reason;
};
// Largest group first.
[[nodiscard]] std::vector<RejectGroup> group_rejects(const std::vector<formats::Reject>& rejects);

}  // namespace xtts::cli
