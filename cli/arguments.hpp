// The command line before CLI11 sees it: `xtts-precompute DATA CACHE` is short for `build DATA
// CACHE`, and a mistyped command must not be taken for DATA. Pure but for `exists`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::cli {

// `arguments` without the program's name. Puts "build" in front where the first argument that is no
// flag is not one of `commands`. kInvalidArgument, with the nearest command, where that argument is
// neither a command nor an existing path.
[[nodiscard]] Result<std::vector<std::string>> complete_arguments(
    std::vector<std::string> arguments, const std::vector<std::string>& commands,
    const std::function<bool(const std::string& path)>& exists);

// Asked before parsing, because a failure to parse is told as JSON too.
[[nodiscard]] bool asks_for_json(const std::vector<std::string>& arguments);

}  // namespace xtts::cli
