// Finds the program xtts-decode of this installation. Any thread.
#pragma once

#include <string>

#include "request/build_options.hpp"
#include "xtts/status.hpp"

namespace xtts::builder {

// Returns the Caller for requests by code. `program` is the decoder's program, as options name it;
// empty means the one installed with this library. kNotFound lists the places that were searched.
[[nodiscard]] request::Caller caller_with(const std::string& program);

}  // namespace xtts::builder
