#include "reader/cache_set.hpp"

#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "reader/block_map.hpp"
#include "reader/set_file.hpp"

namespace xtts::reader {
namespace {

CacheView* view_of(const OpenTable& open) {
  return static_cast<CacheView*>(open.table.get());  // a CacheSet has no other tables
}

}  // namespace

Result<std::shared_ptr<CacheSet>> CacheSet::open(Env& env, std::span<const std::string> paths) {
  if (paths.size() == 1 && is_set(env, paths.front())) return open_set(env, paths.front());
  const auto kept = std::make_shared<Kept>();
  std::vector<std::shared_ptr<CacheView>> caches;
  const auto add = [&](const std::string& path) -> Status {
    XTTS_ASSIGN(auto cache, CacheView::open(env, path, kept));
    caches.push_back(std::move(cache));
    return {};
  };
  for (const std::string& path : paths) {
    if (!is_set(env, path)) {
      XTTS_TRY(add(path));
      continue;
    }
    XTTS_ASSIGN(const LoadedSet loaded, load_set(env, path));
    for (const formats::SetMember& member : loaded.set.members)
      XTTS_TRY(add(loaded.path_of(member)));
  }
  return join(std::move(caches));
}

Result<std::shared_ptr<CacheSet>> CacheSet::join(std::vector<std::shared_ptr<CacheView>> caches) {
  if (caches.empty())
    return Status(StatusCode::kInvalidArgument, "no cache is named: give the path of one");
  std::shared_ptr<CacheSet> set(new CacheSet(caches.front()->env(), nullptr));
  for (const auto& cache : caches) set->paths_.push_back(cache->path());
  XTTS_TRY(set->take({caches.begin(), caches.end()}));
  return set;
}

Result<std::shared_ptr<CacheSet>> CacheSet::open_set(Env& env, const std::string& path) {
  XTTS_ASSIGN(LoadedSet loaded, load_set(env, path));
  const auto kept = std::make_shared<Kept>();
  kept->keeps_locks = loaded.set.members.size() <= kLockedMax;
  // Absolute, because caches are opened late, and the program may change its folder first.
  for (formats::SetMember& member : loaded.set.members) member.path = loaded.path_of(member);
  std::shared_ptr<CacheSet> set(new CacheSet(env, kept));
  set->paths_.push_back(path);
  set->take(std::move(loaded.set), path, loaded.digest.to_hex());
  return set;
}

Result<std::shared_ptr<ClipTable>> CacheSet::open_table(std::size_t index) const {
  const formats::SetMember& named = member(index);
  XTTS_ASSIGN(auto view, CacheView::open(*env_, named.path, kept_));
  if (view->manifest().index_digest == named.index_digest && view->size() == clip_count(index))
    return std::shared_ptr<ClipTable>(std::move(view));
  return Status(StatusCode::kMismatch,
                formatted("{} was built anew since the set {} was made of it: make the set anew",
                          named.path, path()));
}

Result<CacheView*> CacheSet::cache(std::size_t index) const {
  XTTS_ASSIGN(const OpenTable* const open, table(index));
  return view_of(*open);
}

Result<StorageFacts> CacheSet::storage(std::size_t index) const {
  return env_->storage(member(index).path);
}

Result<std::uint32_t> CacheSet::column_id(const SharedColumn& column, std::size_t index) const {
  XTTS_ASSIGN(const OpenTable* const open, table(index));
  return open->column_ids[column.number];
}

Result<std::uint64_t> CacheSet::file_bytes(const SharedColumn& column, std::size_t index) const {
  if (!member(index).column_bytes.empty()) return member(index).column_bytes[column.number];
  XTTS_ASSIGN(const OpenTable* const open, table(index));
  std::uint64_t bytes = 0;
  const auto& manifest = open->table->manifest();
  for (const auto& shard : manifest.columns[open->column_ids[column.number]].shards)
    bytes += shard.file_bytes;
  return bytes;
}

Result<RecordPlace> CacheSet::locate_record(const SharedColumn& column,
                                            std::uint64_t position) const {
  const Place place = locate(position);
  XTTS_ASSIGN(const OpenTable* const open, table(place.table));
  return view_of(*open)->blocks().locate(open->column_ids[column.number], place.position);
}

Result<std::optional<MappedArray>> CacheSet::find_array(const SharedColumn& column,
                                                        std::uint64_t first_position,
                                                        std::uint32_t count) const {
  const Place place = locate(first_position);
  if (count > clip_count(place.table) - place.position) return std::optional<MappedArray>();
  XTTS_ASSIGN(const OpenTable* const open, table(place.table));
  return view_of(*open)->blocks().find_array(open->column_ids[column.number], place.position,
                                             count);
}

}  // namespace xtts::reader
