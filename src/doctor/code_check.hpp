// Which patterns in the trainer's own code starve a GPU? The scan runs in Python
// (xtts_precompute/doctor/code_scan), which parses the files and never runs them.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "doctor/check.hpp"
#include "doctor/python_child.hpp"

namespace xtts::doctor {

// `config`: the trainer's config.yaml, which may decide which loader is in use; empty: none.
// Failures: those of PythonChild::run().
[[nodiscard]] Result<nlohmann::json> scan_code(const PythonChild& python, const std::string& folder,
                                               const std::string& config,
                                               const std::function<bool()>& cancelled);

// `scan`: what scan_code() gave. Pure.
[[nodiscard]] Check check_code(const Result<nlohmann::json>& scan, const std::string& folder);

}  // namespace xtts::doctor
