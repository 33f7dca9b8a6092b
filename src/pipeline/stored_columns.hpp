// StoredColumns: where the records of the sound columns and of the added columns (add_column) lie,
// clip by clip. A record was published before, or sealed since. An index is written from them.
//
// No build makes added columns. An update takes them over from the generation before. A clip has no
// record in them if it is new, or if its text, speaker or language changed, until add_column is
// called again. A cache that is written anew from itself brings its added columns sealed.
//
// One thread at a time. Memory: ColumnRows of each column, one block's facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/index.hpp"
#include "formats/manifest.hpp"
#include "pipeline/column_rows.hpp"
#include "pipeline/sealed_records.hpp"
#include "pipeline/tombstones.hpp"
#include "reader/cache_view.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

struct IndexJob;

class StoredColumns {
 public:
  // `job` must outlive the object. Shards that stay keep their numbers and block rows; sealed
  // shards follow them.
  [[nodiscard]] static Result<StoredColumns> open(const IndexJob& job, const std::string& cache);

  [[nodiscard]] bool has(std::uint32_t column_id) const noexcept;

  // Adds a clip that was at `position`. If it `is_another` now, its added records are left behind.
  // Clips come in canonical order, one call each.
  [[nodiscard]] Status add_published(std::uint64_t position, bool is_another,
                                     Tombstones& tombstones);
  // Returns the facts and length of the next sealed record, if it belongs to this clip. Otherwise
  // the clip was rejected.
  [[nodiscard]] Result<std::optional<SealedRecords::Record>> add_sealed(const Digest& id_hash);

  // Call it after the last clip: it lists the records of published clips that no call has named.
  [[nodiscard]] Status add_remaining_tombstones(Tombstones& tombstones) const;
  // The statistics of the sealed records; none if nothing was sealed.
  [[nodiscard]] std::optional<formats::Statistics> statistics() const;
  // Call it last.
  [[nodiscard]] Result<std::vector<IndexedColumn>> finish();

 private:
  struct Column {
    IndexedColumn indexed;
    std::optional<SealedRecords> sealed = {};
    std::uint64_t published_block_count = 0;
    std::optional<SealedRecords::Record> next = {};

    [[nodiscard]] bool is_added() const noexcept { return indexed.entry.axis.has_value(); }
    void add_location(formats::LocationRow location);
  };

  explicit StoredColumns(reader::CacheView* previous) : previous_(previous) {}

  reader::CacheView* previous_;
  std::vector<Column> columns_;  // those of sound come first
  std::vector<bool> is_named_;   // by published position
};

}  // namespace xtts::pipeline
