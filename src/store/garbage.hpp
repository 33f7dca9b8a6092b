// What no published manifest and no unfinished build names any more (CacheFolder::collect_garbage).
// One builder at a time. Failures: kResource.
#pragma once

#include <set>
#include <string>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// Removes the indexes and shards of `cache` whose paths below it ("index-….bin",
// "shards/mel/00000-….lmdb") are not in `named`. An index that a reader holds (a shared lock on it)
// stays, and all unnamed shards with it: the index tells numbers of shards, not names, so that
// which of them are the reader's is not known until it lets go.
[[nodiscard]] Status remove_unnamed(Env& env, const std::string& cache,
                                    const std::set<std::string>& named);

}  // namespace xtts::store
