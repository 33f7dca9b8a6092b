#include "doctor/python_child.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/run_program.hpp"
#include "base/system_call.hpp"
#include "base/try.hpp"
#include "doctor/python_modules.hpp"
#include "doctor/scratch_folder.hpp"

namespace xtts::doctor {
namespace {

namespace fs = std::filesystem;

// The name under which a child imports the modules. Another package of this name is unlikely.
constexpr const char* kPackage = "xtts_doctor";
constexpr std::size_t kOutputBytesMax = std::size_t{64} << 20U;
constexpr const char* kAskVersion =
    "import sys; print('%d.%d.%d' % sys.version_info[:3]); sys.exit(sys.version_info < (3, 8))";

std::vector<std::string> candidates(const std::string& python) {
  if (!python.empty()) return {python};
  // The Python package's own command names its interpreter.
  if (const char* const chosen = std::getenv("XTTS_PYTHON"); chosen != nullptr && *chosen != '\0')
    return {chosen};
  return {"python3", "python"};
}

std::string or_nothing(const std::string& said) {
  return said.empty() ? "it says nothing" : said;
}

Result<std::string> version_of(const std::string& python) {
  XTTS_ASSIGN(const ProgramResult asked, run_program({.arguments = {python, "-c", kAskVersion},
                                                      .time_limit = std::chrono::seconds(20),
                                                      .output_bytes_max = kOutputBytesMax}));
  const std::string version = last_line(asked.output);
  if (asked.end == ProgramEnd::kExited && asked.code == 0) return version;
  return Status(StatusCode::kNotFound,
                python + (version.empty()
                              ? " is no Python that starts: " + or_nothing(last_line(asked.errors))
                              : " is Python " + version + ", and 3.8 is needed"));
}

Status write_modules(const fs::path& folder) {
  std::error_code error;
  for (const PythonModule& module : python_modules()) {
    const fs::path path = folder / kPackage / module.path;
    fs::create_directories(path.parent_path(), error);
    std::ofstream file(path, std::ios::binary);
    file << module.text;
    if (!file.flush())
      return {StatusCode::kResource, "the doctor's Python modules cannot be written to " +
                                         folder.string() + ": set TMPDIR to a folder with space"};
  }
  return {};
}

std::string temporary_folder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  return error ? "/tmp" : parent.string();
}

Status failure_of(const PythonCall& call, const ProgramResult& result) {
  const std::string name = "the check '" + call.module + "' in Python ";
  const std::string said = or_nothing(last_line(result.errors));
  switch (result.end) {
    case ProgramEnd::kTimedOut:
      return {StatusCode::kResource,
              name + "took longer than " + std::to_string(call.time_limit.count()) + " s"};
    case ProgramEnd::kTooLoud:
      return {StatusCode::kUnsupported, name + "printed without end"};
    case ProgramEnd::kSignalled:
      return {StatusCode::kUnsupported,
              name + "was ended by signal " + std::to_string(result.code)};
    default:
      return {StatusCode::kUnsupported, name + "failed: " + said};
  }
}

}  // namespace

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

PythonChild::PythonChild(std::string python, std::string version,
                         std::unique_ptr<ScratchFolder> folder)
    : python_(std::move(python)), version_(std::move(version)), folder_(std::move(folder)) {}

PythonChild::~PythonChild() = default;

Result<std::unique_ptr<PythonChild>> PythonChild::open(const std::string& python) {
  XTTS_ASSIGN(FoundPython found, find_python(python));
  XTTS_ASSIGN(auto folder, ScratchFolder::make(temporary_folder()));
  std::unique_ptr<PythonChild> child(
      new PythonChild(std::move(found.program), std::move(found.version), std::move(folder)));
  XTTS_TRY(write_modules(child->folder_->path()));
  return child;
}

Result<nlohmann::json> PythonChild::run(const PythonCall& call) const {
  // -c instead of -m: the current folder is then not searched first, so no file there can take the
  // place of a module of Python's. A child of the child finds the package by PYTHONPATH.
  const std::string start =
      "import os, runpy, sys; folder, module = sys.argv[1], sys.argv[2]; "
      "sys.path[:] = [folder] + [path for path in sys.path if path]; "
      "old = os.environ.get('PYTHONPATH'); "
      "os.environ['PYTHONPATH'] = folder + (os.pathsep + old if old else ''); "
      "os.environ['TMPDIR'] = folder; "  // its own files go with the folder, whatever ends it
      "sys.argv[:3] = [module]; "
      "runpy.run_module('" +
      std::string(kPackage) + ".' + module, run_name='__main__', alter_sys=True)";
  std::vector<std::string> arguments{python_, "-B", "-c", start, folder_->path(), call.module};
  arguments.insert(arguments.end(), call.arguments.begin(), call.arguments.end());
  const std::string input = call.input.is_null() ? std::string() : call.input.dump();
  XTTS_ASSIGN(const ProgramResult result, run_program({.arguments = std::move(arguments),
                                                       .input = input,
                                                       .time_limit = call.time_limit,
                                                       .output_bytes_max = kOutputBytesMax,
                                                       .cancelled = call.cancelled}));
  if (result.end != ProgramEnd::kExited || result.code != 0) return failure_of(call, result);
  nlohmann::json document = nlohmann::json::parse(result.output, nullptr, false);
  if (document.is_discarded())
    return Status(StatusCode::kUnsupported,
                  "the check '" + call.module + "' in Python printed something else than JSON");
  return document;
}

}  // namespace xtts::doctor
