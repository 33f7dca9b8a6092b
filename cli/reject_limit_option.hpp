// --max-rejects, for the commands that publish. Pure function.
#pragma once

#include <string>

#include "pipeline/build.hpp"
#include "xtts/status.hpp"

namespace xtts::cli {

// "20" clips, or "5%" of those that are planned; kInvalidArgument for anything else.
[[nodiscard]] Result<pipeline::RejectLimit> parse_reject_limit(const std::string& text);

}  // namespace xtts::cli
