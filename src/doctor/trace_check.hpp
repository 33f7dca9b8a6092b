// The report that `xtts-precompute trace --out FILE` has written: which calls a training waits for,
// measured in its own processes.
//
// Free functions, for any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/env.hpp"
#include "doctor/check.hpp"
#include "doctor/profile_file.hpp"

namespace xtts::doctor {

// kNotFound, kInvalidArgument: no such file, or no report of trace.
[[nodiscard]] Result<nlohmann::json> read_trace(Env& env, const std::string& path);

// What the traced steps took, and what data cost them.
[[nodiscard]] ProfileFacts profile_of(const nlohmann::json& trace);

[[nodiscard]] Check check_trace(const nlohmann::json& trace);

}  // namespace xtts::doctor
