// A verify's results as JSON, for `verify --json` and the library's reports. Pure function.
#pragma once

#include <nlohmann/json.hpp>

#include "verify/verify.hpp"

namespace xtts::request {

[[nodiscard]] nlohmann::json to_json(const verify::Report& report);

}  // namespace xtts::request
