// CacheSet joins the clips of one or several caches (clip_set.hpp) and locates their records. The
// caches are named one by one, or by a set (formats/set-v1.md), whose caches are opened when a clip
// of them is first asked for.
//
// Owns its caches. What they keep open and read, they keep together (kept_things.hpp). A set of
// more than kLockedMax caches holds no locks on their generations: a process has too few
// descriptors. Synchronised inside. Failures: as of ClipSet and CacheView; kMismatch (a cache is
// not the one that the set names).
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
  // Each path is that of a cache or of a set.
  [[nodiscard]] static Result<std::shared_ptr<CacheSet>> open(Env& env,
                                                              std::span<const std::string> paths);
  [[nodiscard]] static Result<std::shared_ptr<CacheSet>> open(Env& env, const std::string& path);
  [[nodiscard]] static Result<std::shared_ptr<CacheSet>> join(
      std::vector<std::shared_ptr<CacheView>> caches);

  // True where a set.json names the caches.
  [[nodiscard]] bool is_set() const noexcept { return is_set_; }
  [[nodiscard]] std::size_t cache_count() const noexcept { return table_count(); }
  // It lives as long as the set.
  [[nodiscard]] Result<CacheView*> cache(std::size_t index) const;
  // The paths that open() takes for the same clips.
  [[nodiscard]] const std::vector<std::string>& paths() const noexcept { return paths_; }
  [[nodiscard]] Env& env() const noexcept { return *env_; }
  // whole(), with the shards of all caches and the bytes of their indexes. Opens all.
  [[nodiscard]] Result<formats::Manifest> manifest_with_shards() const;
  // The rejects of all caches; a line that several have, once. Opens all.
  [[nodiscard]] Result<std::string> rejects_jsonl() const;
  // As CacheView::read_record().
  [[nodiscard]] Result<RecordData> read_record(std::string_view column,
                                               std::uint64_t position) const;
  [[nodiscard]] Result<StorageFacts> storage(std::size_t index) const;
  // The shard files of a column in a cache.
  [[nodiscard]] Result<std::uint64_t> file_bytes(const SharedColumn& column,
                                                 std::size_t index) const;
  // The column's number in a cache that is open.
  [[nodiscard]] Result<std::uint32_t> column_id(const SharedColumn& column,
                                                std::size_t index) const;

  // Like BlockMap::locate() and find_array() of the cache that has the position. A range across
  // two caches is no array.
  [[nodiscard]] Result<RecordPlace> locate_record(const SharedColumn& column,
                                                  std::uint64_t position) const;
  [[nodiscard]] Result<std::optional<MappedArray>> find_array(const SharedColumn& column,
                                                              std::uint64_t first_position,
                                                              std::uint32_t count) const;

 private:
  static constexpr std::size_t kLockedMax = 256;

  CacheSet(Env& env, std::shared_ptr<Kept> kept) : env_(&env), kept_(std::move(kept)) {}
  [[nodiscard]] Result<std::shared_ptr<ClipTable>> open_table(std::size_t index) const override;
  [[nodiscard]] static Result<std::shared_ptr<CacheSet>> open_set(Env& env,
                                                                  const std::string& path);

  Env* env_;
  std::shared_ptr<Kept> kept_;
  std::vector<std::string> paths_;
  std::vector<std::string> cache_paths_;  // of a set: absolute, because caches are opened late
  bool is_set_ = false;
};

}  // namespace xtts::reader
