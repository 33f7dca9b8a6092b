// What `config check` prints for people. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "doctor/config_fix.hpp"

namespace xtts::cli {

// One paragraph for each finding, the worst first.
[[nodiscard]] std::string findings_text(const doctor::Check& check);
// The changes that --fix has made, those that it could not make, and where the old file is.
[[nodiscard]] std::string fix_text(const doctor::ConfigFix& fix);

// Adds "fixed", "refused" and "backup".
void add_fix(const doctor::ConfigFix& fix, nlohmann::json& document);

}  // namespace xtts::cli
