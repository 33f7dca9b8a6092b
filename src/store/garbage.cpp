#include "store/garbage.hpp"

#include <algorithm>
#include <vector>

#include "base/try.hpp"
#include "store/durable.hpp"
#include "store/generations.hpp"

namespace xtts::store {
Result<bool> remove_unnamed_indexes(Env& env, const std::string& cache, const MayGo& may_go) {
  bool is_read = false;
  XTTS_ASSIGN(const auto names, list_names(env, cache, FileKind::kRegular));
  for (const std::string& name : names) {
    if (!is_index_name(name)) continue;
    XTTS_ASSIGN(const bool is_unnamed, may_go(name));
    if (!is_unnamed) continue;
    const std::string path = join_path(cache, name);
    // The lock cannot be had for other reasons too (a file of another user): then it stays as well.
    const auto lock = env.lock(path, LockKind::kExclusive);
    if (!lock.ok()) {
      is_read = true;
      continue;
    }
    // Once more, right before it goes: the lock may have taken its time.
    XTTS_ASSIGN(const bool is_still_unnamed, may_go(name));
    if (is_still_unnamed) XTTS_TRY(remove_if_there(env, path));
  }
  return is_read;
}

Status remove_unnamed(Env& env, const std::string& cache, const MayGo& may_go) {
  // Indexes first: once its index is gone, no new reader can arrive at a generation that loses its
  // shards next.
  XTTS_ASSIGN(const bool is_read, remove_unnamed_indexes(env, cache, may_go));
  if (is_read) return {};
  XTTS_ASSIGN(const auto shards, list_shards(env, cache));
  for (const std::string& shard : shards) {
    XTTS_ASSIGN(const bool is_unnamed, may_go(shard));
    if (is_unnamed) XTTS_TRY(remove_if_there(env, join_path(cache, shard)));
  }
  return {};
}

}  // namespace xtts::store
