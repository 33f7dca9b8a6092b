#include "reader/cache_set.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>
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

struct NamedCache {
  std::string path;
  std::optional<formats::SetMember> member;  // where a set names it
  std::string set;
};

Status check_is_member(const CacheView& view, const formats::SetMember& member,
                       const std::string& set) {
  if (view.manifest().index_digest == member.index_digest) return {};
  return {StatusCode::kMismatch,
          formatted("{} was built anew since the set {} was made of it: make the set anew",
                    view.path(), set)};
}

}  // namespace

Result<std::shared_ptr<CacheSet>> CacheSet::open(Env& env, std::span<const std::string> paths) {
  if (paths.size() == 1 && reader::is_set(env, paths.front())) return open_set(env, paths.front());
  std::vector<NamedCache> named;
  for (const std::string& path : paths) {
    if (!reader::is_set(env, path)) {
      named.push_back({.path = path, .member = std::nullopt, .set = {}});
      continue;
    }
    XTTS_ASSIGN(const LoadedSet loaded, load_set(env, path));
    for (const formats::SetMember& member : loaded.set.members)
      named.push_back({.path = loaded.path_of(member), .member = member, .set = path});
  }
  const auto kept = std::make_shared<Kept>();
  kept->keeps_locks = named.size() <= kLockedMax;
  std::vector<std::shared_ptr<CacheView>> caches;
  for (const NamedCache& cache : named) {
    XTTS_ASSIGN(auto view, CacheView::open(env, cache.path, kept));
    if (cache.member) XTTS_TRY(check_is_member(*view, *cache.member, cache.set));
    caches.push_back(std::move(view));
  }
  XTTS_ASSIGN(auto set, join(std::move(caches)));
  set->paths_.assign(paths.begin(), paths.end());
  return set;
}

Result<std::shared_ptr<CacheSet>> CacheSet::open(Env& env, const std::string& path) {
  return open(env, std::span(&path, 1));
}

Result<std::shared_ptr<CacheSet>> CacheSet::join(std::vector<std::shared_ptr<CacheView>> caches) {
  if (caches.empty())
    return Status(StatusCode::kInvalidArgument, "no cache is named: give the path of one");
  std::shared_ptr<CacheSet> set(new CacheSet(caches.front()->env(), nullptr));
  for (const auto& cache : caches) set->paths_.push_back(cache->path());
  set->cache_paths_ = set->paths_;
  XTTS_TRY(set->take({caches.begin(), caches.end()}));
  return set;
}

Result<std::shared_ptr<CacheSet>> CacheSet::open_set(Env& env, const std::string& path) {
  XTTS_ASSIGN(LoadedSet loaded, load_set(env, path));
  const auto kept = std::make_shared<Kept>();
  kept->keeps_locks = loaded.set.members.size() <= kLockedMax;
  std::shared_ptr<CacheSet> set(new CacheSet(env, kept));
  for (const formats::SetMember& member : loaded.set.members)
    set->cache_paths_.push_back(loaded.path_of(member));
  set->paths_.push_back(path);
  set->is_set_ = true;
  set->take(std::move(loaded.set), path, loaded.digest.to_hex());
  return set;
}

Result<std::shared_ptr<ClipTable>> CacheSet::open_table(std::size_t index) const {
  XTTS_ASSIGN(auto view, CacheView::open(*env_, cache_paths_[index], kept_));
  XTTS_TRY(check_is_member(*view, member(index), path()));
  return std::shared_ptr<ClipTable>(std::move(view));
}

Result<CacheView*> CacheSet::cache(std::size_t index) const {
  XTTS_ASSIGN(const OpenTable* const open, table(index));
  return view_of(*open);
}

Result<formats::Manifest> CacheSet::manifest_with_shards() const {
  formats::Manifest manifest = whole();
  for (std::size_t i = 0; i < cache_count(); ++i) {
    XTTS_ASSIGN(const OpenTable* const open, table(i));
    const formats::Manifest& of_cache = open->table->manifest();
    manifest.index_bytes += of_cache.index_bytes;
    if (!is_set_) manifest.partition = of_cache.partition;
    for (const SharedColumn& column : columns()) {
      auto& shards = manifest.columns[column.number].shards;
      const auto& found = of_cache.columns[open->column_ids[column.number]].shards;
      shards.insert(shards.end(), found.begin(), found.end());
    }
  }
  return manifest;
}

Result<std::string> CacheSet::rejects_jsonl() const {
  std::string all;
  std::unordered_set<std::string> known;
  for (std::size_t i = 0; i < cache_count(); ++i) {
    XTTS_ASSIGN(CacheView* const view, cache(i));
    XTTS_ASSIGN(std::string lines, view->rejects_jsonl());
    if (cache_count() == 1) return lines;
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = std::min(lines.find('\n', at), lines.size() - 1) + 1;
      std::string line = lines.substr(at, end - at);
      at = end;
      if (known.insert(line).second) all += line;
    }
  }
  return all;
}

Result<RecordData> CacheSet::read_record(std::string_view column, std::uint64_t position) const {
  const Place place = locate(position);
  XTTS_ASSIGN(CacheView* const view, cache(place.table));
  return view->read_record(column, place.position);
}

Result<StorageFacts> CacheSet::storage(std::size_t index) const {
  return env_->storage(cache_paths_[index]);
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
