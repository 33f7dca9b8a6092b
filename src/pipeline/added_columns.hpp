// AddedColumns: what an index that is written says of the columns that no build makes (add_column).
//
// An update takes them over from the generation before: a clip that came since, or whose text,
// speaker or language is another now, has no record in them until add_column is called again. A
// cache that is written anew from itself brings them sealed. One thread at a time. Memory: 8 bytes
// a clip and column.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/index.hpp"
#include "formats/manifest.hpp"
#include "pipeline/column_rows.hpp"
#include "pipeline/sealed_records.hpp"
#include "pipeline/tombstones.hpp"
#include "reader/cache_view.hpp"
#include "store/journal.hpp"

namespace xtts::pipeline {

struct AddedColumn {
  formats::ColumnEntry entry;               // without its shards
  std::vector<store::JournalShard> shards;  // in the order of the clips
};

class AddedColumns {
 public:
  // Of an update: those of `previous`, which keep their numbers (check_added_columns).
  [[nodiscard]] static Result<AddedColumns> take_over(reader::CacheView& previous);
  // Of a cache written anew; `added` and `env` must outlive it.
  AddedColumns(Env& env, const std::string& cache, const std::vector<AddedColumn>& added,
               std::uint64_t generation);
  AddedColumns() = default;

  [[nodiscard]] bool has(std::uint32_t column_id) const noexcept;

  // Clips come in canonical order, one call each.
  // A clip that was at `position`; where it `is_another` now, its records are left behind.
  [[nodiscard]] Status add_published(std::uint64_t position, bool is_another,
                                     Tombstones& tombstones);
  // Any other clip: the next sealed record, if it is this clip's.
  [[nodiscard]] Status add_new(const Digest& id_hash);
  // A clip that is not there any more.
  [[nodiscard]] Status leave_behind(std::uint64_t position, Tombstones& tombstones);

  using WriteColumn = std::function<Status(std::uint32_t id, const ColumnRows& rows)>;
  [[nodiscard]] Status write(const WriteColumn& write_column) const;
  void describe(formats::Manifest& manifest) const;

 private:
  struct Column {
    formats::ColumnEntry entry;
    ColumnRows rows;
    std::vector<SealedRecords> records;  // one, where it came sealed
    std::optional<SealedRecords::Record> next;
    std::uint64_t missing_count = 0;
  };
  void add_none(Column& column);

  reader::CacheView* previous_ = nullptr;
  std::vector<Column> columns_;
};

}  // namespace xtts::pipeline
