// The GPUs of this machine, as NVIDIA's management library knows them.
#pragma once

#include <nlohmann/json.hpp>

#include "xtts/status.hpp"

namespace xtts::probe {

// An array; README.md names its members. A machine without a GPU is an answer: the failure's
// message says why. What an idle GPU does says nothing about training.
[[nodiscard]] Result<nlohmann::json> gpu_numbers();

}  // namespace xtts::probe
