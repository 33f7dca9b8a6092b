// Checks as JSON, for `--json` and files. The keys are stable (docs/json.md).
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "doctor/check.hpp"

namespace xtts::doctor {

[[nodiscard]] nlohmann::json to_json(const Check& check);
[[nodiscard]] nlohmann::json to_json(const Finding& finding);
[[nodiscard]] nlohmann::json to_json(const ConfigChange& change);
// {"checks", "issues", "recommendations", "config_changes"}
[[nodiscard]] nlohmann::json to_json(const std::vector<Check>& checks);

}  // namespace xtts::doctor
