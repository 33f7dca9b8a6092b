#include "cli/adviser.hpp"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cli/stop_signal.hpp"

namespace xtts::cli {
namespace {

constexpr const char* kPackage = "xtts_advise";
// This package starts itself anew there, where the Python of PATH lacks a library.
constexpr const char* kSystemPython = "/usr/bin/python3";

std::filesystem::path own_path() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown);
}

// In a build folder beside the program, in a wheel beside the program's package, or installed.
Result<std::string> find_package() {
  const std::filesystem::path folder = own_path().parent_path();
  for (const char* const place : {".", "..", XTTS_PYTHON_FROM_PROGRAM}) {
    const auto package = (folder / place / kPackage).lexically_normal();
    std::error_code unknown;
    if (std::filesystem::exists(package / "__main__.py", unknown)) return package.string();
  }
  return Status(StatusCode::kNotFound, formatted("the folder {}, which judges, is not beside {}: "
                                                 "install xtts-precompute again, as a whole",
                                                 std::string(kPackage), own_path().string()));
}

// The words that start the adviser, but for the Python.
Result<std::vector<std::string>> call_of(std::vector<std::string> words) {
  XTTS_ASSIGN(std::string package, find_package());
  std::vector<std::string> call{std::move(package), "--program", own_path().string()};
  for (std::string& word : words) call.push_back(std::move(word));
  return call;
}

std::vector<std::string> pythons() {
  std::vector<std::string> names;
  if (const char* const given = std::getenv("XTTS_PYTHON"); given != nullptr && *given != '\0')
    names.emplace_back(given);
  names.insert(names.end(), {"python3", kSystemPython});
  return names;
}

using Start = std::function<Result<ProgramResult>(std::vector<std::string> call)>;

// Starts the adviser in the first Python that is there.
Result<ProgramResult> start_in_python(std::vector<std::string> words, const Start& start) {
  XTTS_ASSIGN(std::vector<std::string> call, call_of(std::move(words)));
  call.insert(call.begin(), "");
  for (const std::string& python : pythons()) {
    call.front() = python;
    Result<ProgramResult> result = start(call);
    if (result.ok() || result.status().code() != StatusCode::kNotFound) return result;
  }
  return Status(StatusCode::kUnsupported,
                "this command runs in Python, and there is none: `apt-get install python3 "
                "python3-ruamel.yaml` brings it on Debian and Ubuntu");
}

}  // namespace

Status become_adviser(const Context& context, std::vector<std::string> words) {
  if (context.flags.json) words.insert(words.begin() + 1, "--json");
  if (context.flags.quiet) words.insert(words.begin() + 1, "--quiet");
  const auto become = [](std::vector<std::string> call) -> Result<ProgramResult> {
    return become_program(std::move(call));
  };
  return start_in_python(std::move(words), become).status();
}

Result<ProgramResult> run_adviser(std::vector<std::string> words, std::string_view input) {
  return start_in_python(std::move(words), [&](std::vector<std::string> call) {
    return run_program({.arguments = std::move(call), .input = input, .cancelled = stop_requested});
  });
}

}  // namespace xtts::cli
