// Does the user's framework compile a step, and does it see the GPU? The measurement runs in the
// user's Python (xtts_precompute/doctor/frameworks).
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "doctor/check.hpp"
#include "doctor/python_child.hpp"

namespace xtts::doctor {

// `driver_cuda`: the newest CUDA of the driver, "12.4"; empty: no GPU. Takes up to 40 s. Failures:
// those of PythonChild::run().
[[nodiscard]] Result<nlohmann::json> probe_frameworks(const PythonChild& python,
                                                      const std::string& driver_cuda,
                                                      const std::function<bool()>& cancelled);

// Two checks: "graph_mode" and "cuda_versions". `has_gpu`: a framework that sees none is at fault.
// Pure.
[[nodiscard]] std::vector<Check> check_frameworks(const Result<nlohmann::json>& probe,
                                                  bool has_gpu);

}  // namespace xtts::doctor
