// What no published manifest and no unfinished build names any more (CacheFolder::collect_garbage).
// One builder at a time. Failures: kResource, and those of MayGo.
#pragma once

#include <functional>
#include <string>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// Asked right before each file goes, with its path below the cache ("index-….bin",
// "shards/mel/00000-….lmdb"): a builder that was suspended may wake at any of them. False where
// somebody names the file. A failure ends the collection.
using MayGo = std::function<Result<bool>(const std::string& relative_path)>;

// Removes indexes and shards. An index that a reader holds (a shared lock on it) stays, and all
// unnamed shards with it: the index tells numbers of shards, not names, so that which of them are
// the reader's is not known until it lets go.
[[nodiscard]] Status remove_unnamed(Env& env, const std::string& cache, const MayGo& may_go);

// Indexes alone. Whether any that is not named had to stay.
[[nodiscard]] Result<bool> remove_unnamed_indexes(Env& env, const std::string& cache,
                                                  const MayGo& may_go);

}  // namespace xtts::store
