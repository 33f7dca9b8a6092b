// The folder for scratch files that belong to no cache.
#pragma once

#include <string>

namespace xtts {
class Env;
}

namespace xtts::request {

// Returns TMPDIR, or /tmp where it is not set. The path is absolute, so a change of the working
// directory does not move it. A folder that does not exist is returned as given.
[[nodiscard]] std::string temporary_folder(Env& env);

}  // namespace xtts::request
