// PythonChild runs modules of xtts_precompute/doctor in the user's Python, each in a process of its
// own with a time limit. The modules need Python's standard library alone, so xtts_precompute does
// not have to be installed there. A framework that hangs or crashes ends its process, not this one.
//
// One thread at a time. The modules lie in a new folder below TMPDIR, which goes with the object.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::doctor {

class ScratchFolder;

struct FoundPython {
  std::string program;  // a path, or a name on PATH
  std::string version;  // "3.11.2"
};

// `python`: a path or a name on PATH; empty: XTTS_PYTHON where it is set, else the first of python3
// and python. kNotFound: there is none, or none of 3.8 or later.
[[nodiscard]] Result<FoundPython> find_python(const std::string& python);

struct PythonCall {
  std::string module;  // "code_scan"
  std::vector<std::string> arguments = {};
  nlohmann::json input = nullptr;  // the module's standard input; null: empty
  std::chrono::seconds time_limit{30};
  std::function<bool()> cancelled = {};
};

class PythonChild {
 public:
  // `python` and the failure kNotFound: as for find_python().
  [[nodiscard]] static Result<std::unique_ptr<PythonChild>> open(const std::string& python);
  ~PythonChild();
  PythonChild(const PythonChild&) = delete;
  PythonChild& operator=(const PythonChild&) = delete;

  // Returns the JSON document that the module prints. kUnsupported: it failed, and the message has
  // the last line that it said; kResource: its time was over.
  [[nodiscard]] Result<nlohmann::json> run(const PythonCall& call) const;
  [[nodiscard]] const std::string& python() const noexcept { return python_; }
  [[nodiscard]] const std::string& version() const noexcept { return version_; }  // "3.11.2"

 private:
  PythonChild(std::string python, std::string version, std::unique_ptr<ScratchFolder> folder);

  const std::string python_;
  const std::string version_;
  const std::unique_ptr<ScratchFolder> folder_;
};

}  // namespace xtts::doctor
