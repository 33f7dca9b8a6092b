// A report of verify as a person reads it. Pure functions.
#pragma once

#include <string>

#include "verify/verify.hpp"

namespace xtts::cli {

[[nodiscard]] std::string to_text(const verify::Finding& finding);
[[nodiscard]] std::string to_text(const verify::Mended& mended);
[[nodiscard]] std::string to_text(const verify::Remedy& remedy);
[[nodiscard]] std::string summary_of(const verify::Report& report);

}  // namespace xtts::cli
