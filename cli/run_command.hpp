// run_command: one command line, from its words to its exit code. It parses, runs the command, and
// writes results and messages to the context's outputs. CLI11 throws for an option whose name is
// not valid. That is a defect of ours.
#pragma once

#include <string>
#include <vector>

#include "cli/app.hpp"

namespace xtts::cli {

// `arguments` come without the program's name. Returns the exit code.
[[nodiscard]] int run_command(std::vector<std::string> arguments, Context& context);

}  // namespace xtts::cli
