// A GPU's activity as JSON (tests/cli/schemas/gpu.json). Pure.
#pragma once

#include <nlohmann/json.hpp>

#include "xtts/gpu.hpp"

namespace xtts::cli {

// Null where nothing was read. A value that could not be read is null, too.
[[nodiscard]] nlohmann::json gpu_to_json(const GpuUse& use);

}  // namespace xtts::cli
