// Hands a command over to a module of the Python package, in the Python that the user trains with.
#pragma once

#include <string>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::cli {

// Returns only where the module cannot be run. kNotFound: there is no Python of 3.8 or later.
// kUnsupported: the package is not installed there. `python`: a path or a name on PATH; empty:
// XTTS_PYTHON where it is set, else the first of python3 and python. `command`: for the message.
[[nodiscard]] Status become_package_module(const std::string& command, const std::string& python,
                                           const std::string& module,
                                           std::vector<std::string> words);

}  // namespace xtts::cli
