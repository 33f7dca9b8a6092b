// Finds a program that is installed with this one: xtts-decode. Any thread.
#pragma once

#include <string>

#include "xtts/status.hpp"

namespace xtts {

// Looks beside the file that asks (a Python wheel), in `installed` (the place in an installation,
// relative to that file's folder), and in the place of a build folder. It does not look on PATH,
// which may have another version. It refuses a file whose owner is neither root, nor this user, nor
// the owner of `folder`, and a file that all may write to. `folder` is the folder of the file that
// asks; empty if unknown. kNotFound names the places that were searched, and `purpose`: "in whose
// processes audio is decoded".
[[nodiscard]] Result<std::string> find_own_program(const std::string& name,
                                                   const std::string& purpose,
                                                   const std::string& folder,
                                                   const std::string& installed);

}  // namespace xtts
