// The program xtts-decode of this installation. Any thread.
#pragma once

#include <string>

#include "request/build_request.hpp"
#include "xtts/status.hpp"

namespace xtts::builder {

// Code that makes requests, with the decoder's program as options name it; empty: the one that was
// installed with this library. kNotFound with the places that were looked at.
[[nodiscard]] request::Asker caller_with(const std::string& program);

}  // namespace xtts::builder
