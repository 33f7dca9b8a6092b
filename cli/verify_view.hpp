// A report of verify as a person and as a program read it. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "verify/verify.hpp"

namespace xtts::cli {

[[nodiscard]] std::string to_text(const verify::Finding& finding);
[[nodiscard]] std::string to_text(const verify::Mended& mended);
[[nodiscard]] std::string summary_of(const verify::Report& report);
[[nodiscard]] nlohmann::json to_json(const verify::Report& report);

}  // namespace xtts::cli
