#include "reader/cache_set.hpp"

#include <utility>

#include "base/try.hpp"
#include "reader/block_map.hpp"

namespace xtts::reader {

Result<std::shared_ptr<CacheSet>> CacheSet::open(Env& env, std::span<const std::string> paths) {
  std::vector<std::shared_ptr<CacheView>> caches;
  for (const std::string& path : paths) {
    XTTS_ASSIGN(auto cache, CacheView::open(env, path));
    caches.push_back(std::move(cache));
  }
  return join(std::move(caches));
}

Result<std::shared_ptr<CacheSet>> CacheSet::join(std::vector<std::shared_ptr<CacheView>> caches) {
  if (caches.empty())
    return Status(StatusCode::kInvalidArgument, "no cache is named: give the path of one");
  std::shared_ptr<CacheSet> set(new CacheSet());
  set->caches_ = std::move(caches);
  XTTS_TRY(set->add({set->caches_.begin(), set->caches_.end()}));
  return set;
}

Result<RecordPlace> CacheSet::locate_record(const SharedColumn& column,
                                            std::uint64_t position) const {
  const Place place = locate(position);
  return caches_[place.table]->blocks().locate(column.ids[place.table], place.position);
}

Result<std::optional<MappedArray>> CacheSet::find_array(const SharedColumn& column,
                                                        std::uint64_t first_position,
                                                        std::uint32_t count) const {
  const Place place = locate(first_position);
  CacheView& cache = *caches_[place.table];
  if (count > cache.size() - place.position) return std::optional<MappedArray>();
  return cache.blocks().find_array(column.ids[place.table], place.position, count);
}

}  // namespace xtts::reader
