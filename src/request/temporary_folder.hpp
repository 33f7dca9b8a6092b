// Where scratch files may lie that belong to no cache.
#pragma once

#include <string>

namespace xtts {
class Env;
}

namespace xtts::request {

// TMPDIR, or /tmp where it is not set. Absolute, so that a change of the working directory moves
// nothing; as it was given where it is not there.
[[nodiscard]] std::string temporary_folder(Env& env);

}  // namespace xtts::request
