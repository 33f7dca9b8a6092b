// The text of --version: our version, what was built in, and the licence of the result.
#pragma once

#include <string>

namespace xtts::cli {

[[nodiscard]] std::string version_text();

}  // namespace xtts::cli
