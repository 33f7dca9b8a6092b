// The program xtts-precompute of this installation, whose processes decode. Any thread.
#pragma once

#include <string>
#include <vector>

#include "frontend/build_request.hpp"
#include "xtts/status.hpp"

namespace xtts::builder {

// Code that asks the frontend, with the program as options name it; empty: the one beside this
// library, or where its installation has programs. Not on PATH, where another version may be.
// kNotFound with the places that were looked at.
[[nodiscard]] frontend::Asker caller_with(const std::string& program);

}  // namespace xtts::builder
