// --isa, for the commands that compute. Pure function.
#pragma once

#include <string>

#include "dsp/extract.hpp"
#include "xtts/status.hpp"

namespace xtts::cli {

// "best", "scalar", "avx2", "avx512"; kInvalidArgument for any other name.
[[nodiscard]] Result<dsp::Isa> parse_isa(const std::string& name);

}  // namespace xtts::cli
