// How far the operating system's locks in a folder reach, by the kind of its file system (Linux).
// Free function. Failures: kNotFound, kResource.
#pragma once

#include <string>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts {

[[nodiscard]] Result<LockReach> real_lock_reach(const std::string& folder);

}  // namespace xtts
