// What a build says as JSON: `build --json`, and the library's reports. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/reject.hpp"
#include "pipeline/build.hpp"

namespace xtts::frontend {

[[nodiscard]] nlohmann::json preview_to_json(const pipeline::BuildRequest& request,
                                             const pipeline::BuildPreview& preview);
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

}  // namespace xtts::frontend
