// What the adviser found in the trainer's config.yaml, as a check. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "doctor/check.hpp"
#include "xtts/status.hpp"

namespace xtts::doctor {

// `document`: of `config check --json`, or why there is none: the check then cannot tell.
[[nodiscard]] Check check_configuration(const Result<nlohmann::json>& document,
                                        const std::string& path);

}  // namespace xtts::doctor
