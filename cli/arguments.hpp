// The command line before CLI11 sees it: `xtts-precompute DATA CACHE` is short for `build DATA
// CACHE`, and a mistyped command must not be taken for DATA. Pure but for `exists`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::cli {

// Takes `arguments` without the program's name. Inserts "build" in front when the first argument
// that is not a flag is not one of `commands`. Returns kInvalidArgument, with the nearest command,
// when that argument is neither a command nor an existing path.
[[nodiscard]] Result<std::vector<std::string>> complete_arguments(
    std::vector<std::string> arguments, const std::vector<std::string>& commands,
    const std::function<bool(const std::string& path)>& exists);

// Call this before parsing, because a parse error is reported as JSON too.
[[nodiscard]] bool asks_for_json(const std::vector<std::string>& arguments);

}  // namespace xtts::cli
