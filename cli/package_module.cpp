#include "cli/package_module.hpp"

#include <chrono>
#include <utility>

#include "base/run_program.hpp"
#include "base/try.hpp"
#include "doctor/python_child.hpp"

namespace xtts::cli {
namespace {

constexpr std::chrono::seconds kLookLimit{20};

}  // namespace

Status become_package_module(const std::string& command, const std::string& python,
                             const std::string& module, std::vector<std::string> words) {
  XTTS_ASSIGN(const doctor::FoundPython found, doctor::find_python(python));
  XTTS_ASSIGN(const ProgramResult tried,
              run_program({.arguments = {found.program, "-c", "import xtts_precompute"},
                           .time_limit = kLookLimit}));
  if (tried.end != ProgramEnd::kExited || tried.code != 0)
    return {StatusCode::kUnsupported,
            command + " runs in Python, and " + found.program + " (" + found.version +
                ") cannot import xtts_precompute (" + last_line(tried.errors) +
                "): install it there (`" + found.program +
                " -m pip install .` in the folder of this program's source), or name another "
                "Python by --python"};
  std::vector<std::string> arguments{found.program, "-m", module};
  for (std::string& word : words) arguments.push_back(std::move(word));
  return become_program(std::move(arguments));
}

}  // namespace xtts::cli
