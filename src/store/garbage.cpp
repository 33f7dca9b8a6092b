#include "store/garbage.hpp"

#include <algorithm>
#include <vector>

#include "base/try.hpp"
#include "store/durable.hpp"
#include "store/generations.hpp"
#include "store/index_copy.hpp"

namespace xtts::store {
Result<bool> remove_unnamed_indexes(Env& env, const std::string& cache, const MayGo& may_go) {
  bool is_read = false;
  XTTS_ASSIGN(const auto names, list_names(env, cache, FileKind::kRegular));
  for (const std::string& name : names) {
    if (!is_index_name(name)) continue;
    XTTS_ASSIGN(const bool is_unnamed, may_go(name));
    if (!is_unnamed) continue;
    const std::string path = join_path(cache, name);
    // If the lock fails for another reason (another user's file), the index stays as well.
    const auto lock = env.lock(path, LockKind::kExclusive);
    if (!lock.ok()) {
      is_read = true;
      continue;
    }
    // Asks again right before the removal, because taking the lock may have needed time.
    XTTS_ASSIGN(const bool is_still_unnamed, may_go(name));
    if (is_still_unnamed) XTTS_TRY(remove_if_there(env, path));
  }
  return is_read;
}

Status remove_unnamed(Env& env, const std::string& cache, const MayGo& may_go) {
  // Indexes first: without its index, no new reader can open a generation that loses its shards.
  XTTS_ASSIGN(const bool is_read, remove_unnamed_indexes(env, cache, may_go));
  if (is_read) return {};
  const std::string copy(kIndexCopyName);
  XTTS_ASSIGN(const bool is_unnamed_copy, may_go(copy));
  if (is_unnamed_copy) XTTS_TRY(remove_if_there(env, join_path(cache, copy)));
  XTTS_ASSIGN(const auto shards, list_shards(env, cache));
  for (const std::string& shard : shards) {
    XTTS_ASSIGN(const bool is_unnamed, may_go(shard));
    if (is_unnamed) XTTS_TRY(remove_if_there(env, join_path(cache, shard)));
  }
  return {};
}

}  // namespace xtts::store
