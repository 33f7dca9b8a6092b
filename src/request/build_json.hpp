// A build's results as JSON, for `build --json` and the library's reports. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/reject.hpp"

namespace xtts::pipeline {
struct BuildPreview;
struct BuildReport;
struct BuildRequest;
}  // namespace xtts::pipeline

namespace xtts::request {

[[nodiscard]] nlohmann::json preview_to_json(const pipeline::BuildRequest& request,
                                             const pipeline::BuildPreview& preview);
[[nodiscard]] nlohmann::json report_to_json(const pipeline::BuildRequest& request,
                                            const pipeline::BuildReport& report, double elapsed_s);

// Rejects of one class and rule. Rejects of lists' rows also share one fault, as the list's reader
// names it.
struct RejectGroup {
  std::uint64_t count = 0;
  const formats::Reject* example = nullptr;  // the first of the group
};
// Returns the largest group first. The groups point into the memory of `rejects`.
[[nodiscard]] std::vector<RejectGroup> group_rejects(const std::vector<formats::Reject>& rejects);

}  // namespace xtts::request
