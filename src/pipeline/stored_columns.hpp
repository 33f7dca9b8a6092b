// StoredColumns: where the records of the columns of sound and of the added ones (add_column) lie,
// clip by clip: published before, or sealed since. An index is written from them.
//
// Added columns no build makes. An update takes them over from the generation before: a clip that
// came since, or whose text, speaker or language is another now, has no record in them until
// add_column is called again. A cache that is written anew from itself brings them sealed.
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
  // Of `job`, which must outlive it. Shards that stay keep their numbers and block rows; what was
  // sealed comes behind them.
  [[nodiscard]] static Result<StoredColumns> open(const IndexJob& job, const std::string& cache);

  [[nodiscard]] bool has(std::uint32_t column_id) const noexcept;

  // Clips come in canonical order, one call each.
  // A clip that was at `position`; where it `is_another` now, its added records are left behind.
  [[nodiscard]] Status add_published(std::uint64_t position, bool is_another,
                                     Tombstones& tombstones);
  // The facts and length of the next sealed record, if it is this clip's; else the clip was
  // rejected.
  [[nodiscard]] Result<std::optional<SealedRecords::Record>> add_sealed(const Digest& id_hash);

  // After the last clip: the records of published clips that none has named.
  [[nodiscard]] Status leave_behind(Tombstones& tombstones) const;
  // Of the sealed records. None where nothing was sealed.
  [[nodiscard]] std::optional<formats::Statistics> statistics() const;
  // Once everything else was asked.
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
  std::vector<Column> columns_;  // those of sound first
  std::vector<bool> is_named_;   // published positions
};

}  // namespace xtts::pipeline
