// Recognises our folders before anything in them is changed: a cache by its manifest or index,
// .build/ by a mark. Other programs use a .build/ too, and a user may give the wrong CACHE.
//
// The mark is made under the builder's lock and is removed last before it. So a .build/ without
// the mark holds at most a lock and a lease. Free functions. Failures: kInvalidArgument (not ours;
// the message says what is there), kCorrupt (a link, or no folder), kNotFound (no .build/),
// kResource.
#pragma once

#include <string>
#include <string_view>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// The mark: a file in .build/ with a few words for people.
inline constexpr std::string_view kBuildMark = "xtts-precompute";

// True where some version of our builder makes files of this name in .build/.
[[nodiscard]] bool is_name_of_build(std::string_view name);

[[nodiscard]] Status check_build_folder(Env& env, const std::string& cache);
// Makes the mark durable. The caller holds the lock.
[[nodiscard]] Status put_build_mark(Env& env, const std::string& cache);

// Ok for a folder that does not exist, is empty, or holds a cache or an unfinished build of ours.
[[nodiscard]] Status check_may_be_cache(Env& env, const std::string& cache);

}  // namespace xtts::store
