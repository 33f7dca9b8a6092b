// JSON text as every command prints it. Pure function.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace xtts::request {

// Broken UTF-8 becomes U+FFFD.
[[nodiscard]] std::string dump_json(const nlohmann::json& value, int indent = -1);

}  // namespace xtts::request
