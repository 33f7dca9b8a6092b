// Removes files that no published manifest and no unfinished build names
// (CacheFolder::collect_garbage). One builder at a time. Failures: kResource, and those of MayGo.
#pragma once

#include <functional>
#include <string>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// Called right before each file is removed, with its path below the cache ("index-….bin",
// "shards/mel/00000-….lmdb"), because a builder that was suspended may wake at any of them. False:
// the file is named. A failure ends the collection.
using MayGo = std::function<Result<bool>(const std::string& relative_path)>;

// Removes indexes and shards. An index that a reader holds (a shared lock on it) stays, and all
// unnamed shards with it. The index holds numbers of shards, not names, so we cannot tell which
// shards belong to the reader.
[[nodiscard]] Status remove_unnamed(Env& env, const std::string& cache, const MayGo& may_go);

// Removes only indexes. Returns whether an unnamed one had to stay.
[[nodiscard]] Result<bool> remove_unnamed_indexes(Env& env, const std::string& cache,
                                                  const MayGo& may_go);

}  // namespace xtts::store
