// The adviser is the Python package xtts_advise, which lies beside this program: it judges, speaks
// and draws. Commands that are the adviser's are read here and handed over with these functions.
//
// kNotFound: the package is not there. kUnsupported: there is no Python. One thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/run_program.hpp"
#include "cli/app.hpp"

namespace xtts::cli {

// Replaces this process by the adviser. `words`: a command and its arguments ("config", "check",
// ...); --json and --quiet are added as the user gave them.
[[nodiscard]] Status become_adviser(const Context& context, std::vector<std::string> words);

// Runs a command of the adviser that reads `input`, until it ends or the user stops this program.
[[nodiscard]] Result<ProgramResult> run_adviser(std::vector<std::string> words,
                                                std::string_view input);

}  // namespace xtts::cli
