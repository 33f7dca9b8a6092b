#include "cli/package_module.hpp"

#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/formatted.hpp"
#include "base/run_program.hpp"
#include "base/try.hpp"

namespace xtts::cli {
namespace {

constexpr std::chrono::seconds kLookLimit{20};
constexpr const char* kAskVersion =
    "import sys; print('%d.%d.%d' % sys.version_info[:3]); sys.exit(sys.version_info < (3, 8))";

struct FoundPython {
  std::string program;  // a path, or a name on PATH
  std::string version;  // "3.11.2"
};

std::vector<std::string> candidates(const std::string& python) {
  if (!python.empty()) return {python};
  // The Python package's own command names its interpreter.
  if (const char* const chosen = std::getenv("XTTS_PYTHON"); chosen != nullptr && *chosen != '\0')
    return {chosen};
  return {"python3", "python"};
}

Result<std::string> version_of(const std::string& python) {
  XTTS_ASSIGN(const ProgramResult asked,
              run_program({.arguments = {python, "-c", kAskVersion}, .time_limit = kLookLimit}));
  const std::string version = last_line(asked.output);
  if (asked.end == ProgramEnd::kExited && asked.code == 0) return version;
  return Status(
      StatusCode::kNotFound,
      python + (version.empty() ? " is no Python that starts: " + last_line(asked.errors)
                                : formatted(" is Python {}, and 3.8 is needed", version)));
}

Result<FoundPython> find_python(const std::string& python) {
  Status failure(StatusCode::kNotFound, "there is no Python on PATH");
  for (const std::string& candidate : candidates(python)) {
    auto version = version_of(candidate);
    if (version.ok()) return FoundPython{candidate, std::move(*version)};
    if (version.status().code() != StatusCode::kNotFound || !python.empty())
      failure = version.status();
  }
  return failure;
}

}  // namespace

Status become_package_module(const std::string& command, const std::string& python,
                             const std::string& module, std::vector<std::string> words) {
  XTTS_ASSIGN(const FoundPython found, find_python(python));
  XTTS_ASSIGN(const ProgramResult tried,
              run_program({.arguments = {found.program, "-c", "import xtts_precompute"},
                           .time_limit = kLookLimit}));
  if (tried.end != ProgramEnd::kExited || tried.code != 0)
    return {
        StatusCode::kUnsupported,
        formatted("{} runs in Python, and {} ({}) cannot import xtts_precompute ({}): install it "
                  "there (`{} -m pip install .` in the folder of this program's source), or name "
                  "another Python by --python",
                  command, found.program, found.version, last_line(tried.errors), found.program)};
  std::vector<std::string> arguments{found.program, "-m", module};
  for (std::string& word : words) arguments.push_back(std::move(word));
  return become_program(std::move(arguments));
}

}  // namespace xtts::cli
