// CacheSet: the clips of one cache, or of several, as one (clip_set.hpp), and their records where
// they lie.
//
// Owns its caches; synchronised inside as they are. Failures: as ClipSet's and CacheView's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reader/cache_view.hpp"
#include "reader/clip_set.hpp"
#include "xtts/reader.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

struct RecordPlace;  // block_map.hpp
struct MappedArray;

class CacheSet final : public ClipSet {
 public:
  [[nodiscard]] static Result<std::shared_ptr<CacheSet>> open(Env& env,
                                                              std::span<const std::string> paths);
  [[nodiscard]] static Result<std::shared_ptr<CacheSet>> join(
      std::vector<std::shared_ptr<CacheView>> caches);

  [[nodiscard]] std::size_t cache_count() const noexcept { return caches_.size(); }
  [[nodiscard]] CacheView& cache(std::size_t index) const noexcept { return *caches_[index]; }
  [[nodiscard]] const std::shared_ptr<CacheView>& first() const noexcept { return caches_.front(); }

  // As BlockMap::locate() and find_array() of the cache that has the position. A range over the
  // border of two caches is no array.
  [[nodiscard]] Result<RecordPlace> locate_record(const SharedColumn& column,
                                                  std::uint64_t position) const;
  [[nodiscard]] Result<std::optional<MappedArray>> find_array(const SharedColumn& column,
                                                              std::uint64_t first_position,
                                                              std::uint32_t count) const;

 private:
  CacheSet() = default;

  std::vector<std::shared_ptr<CacheView>> caches_;
};

}  // namespace xtts::reader
