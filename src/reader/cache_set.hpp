// CacheSet joins the clips of one or several caches (clip_set.hpp) and locates their records.
//
// Owns its caches; synchronised like them. Failures: as of ClipSet and CacheView.
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

  // Like BlockMap::locate() and find_array() of the cache that has the position. A range across
  // two caches is no array.
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
