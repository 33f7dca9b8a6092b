// By what a folder is known to be ours, before anything in it is changed: a cache by its manifest
// or index, .build/ by a mark. Other programs have a folder .build/ too, and a CACHE may be given
// by mistake.
//
// The mark is made under the builder's lock and is the last to go before it, so that .build/
// without one holds a lock and a lease at most. Free functions. Failures: kInvalidArgument (not
// ours, saying what is there), kCorrupt (a link, or no folder), kNotFound (.build/ is not there),
// kResource.
#pragma once

#include <string>
#include <string_view>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// A file in .build/, of some words for people.
inline constexpr std::string_view kBuildMark = "xtts-precompute";

// Whether a file of this name in .build/ is one that some version of us has made.
[[nodiscard]] bool is_name_of_build(std::string_view name);

[[nodiscard]] Status check_build_folder(Env& env, const std::string& cache);
// Durable when it returns. The lock is held.
[[nodiscard]] Status put_build_mark(Env& env, const std::string& cache);

// Ok for a folder that is not there, is empty, or holds a cache or an unfinished build of ours.
[[nodiscard]] Status check_may_be_cache(Env& env, const std::string& cache);

}  // namespace xtts::store
