// A GPU's activity, in words. Pure.
#pragma once

#include <string>
#include <vector>

#include "xtts/gpu.hpp"

namespace xtts::report {

// A line each, without a line end: utilization and memory; PCIe; clocks and power; what lacks.
// Where nothing was read, one line says why.
[[nodiscard]] std::vector<std::string> gpu_lines(const GpuUse& use);

}  // namespace xtts::report
