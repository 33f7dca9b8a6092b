// The parser: text of PTX, as NVIDIA's compiler writes it, to a program.
//
// Pure. Failure: kUnsupported, with the line, for each instruction, modifier or directive that the
// machine does not know.
#pragma once

#include <string_view>

#include "support/ptx/ptx_program.hpp"
#include "xtts/status.hpp"

namespace xtts::testing::ptx {

[[nodiscard]] Result<Program> parse(std::string_view text);

}  // namespace xtts::testing::ptx
