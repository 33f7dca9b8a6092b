// The adviser is the Python package xtts_advise, which lies beside this program: it judges and
// speaks. Commands that are the adviser's are read here and handed over with these functions.
//
// kNotFound: the package is not there. kUnsupported: there is no Python. One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "cli/app.hpp"

namespace xtts::cli {

// Replaces this process by the adviser. `words`: a command and its arguments ("config", "check",
// ...); --json and --quiet are added as the user gave them.
[[nodiscard]] Status become_adviser(const Context& context, std::vector<std::string> words);

}  // namespace xtts::cli
