// Says in one line how the recipe of a cache differs from the shipped one of its name, which may
// have changed since; empty if it does not. Pure function.
#pragma once

#include <string>

#include "base/env.hpp"
#include "formats/manifest.hpp"

namespace xtts::request {

[[nodiscard]] std::string recipe_note(Env& env, const formats::Manifest& manifest);

}  // namespace xtts::request
