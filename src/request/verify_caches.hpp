// Verifies the cache that the options name, or each cache of a set, one after the other.
//
// Runs on the calling thread. Failures: those of settings_of() and verify_cache(); kCorrupt (a set
// that cannot be read, or that names a cache which was built anew).
#pragma once

#include <functional>

#include "base/env.hpp"
#include "request/verify_options.hpp"
#include "verify/verify.hpp"
#include "xtts/status.hpp"

namespace xtts::request {

// The report of a set adds up those of its caches, and a finding's file begins with the path of its
// cache. `complete` adds the callbacks.
[[nodiscard]] Result<verify::Report> verify_caches(
    Env& env, const VerifyOptions& options, const Caller& caller,
    const std::function<void(verify::Options&)>& complete);

}  // namespace xtts::request
