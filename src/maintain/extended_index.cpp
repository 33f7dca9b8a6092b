#include "maintain/extended_index.hpp"

#include "base/try.hpp"
#include "formats/index.hpp"
#include "pipeline/copied_index.hpp"

namespace xtts::maintain {

Status write_extended_index(reader::CacheView& view, std::uint32_t column, bool keeps_tombstones,
                            const pipeline::ColumnRows& rows, store::CacheFolder& folder,
                            formats::Manifest& manifest) {
  pipeline::CopiedIndex changes;
  changes.columns.emplace(column, rows);
  XTTS_ASSIGN(const auto tombstones, view.tombstones());
  for (const formats::TombstoneRow& row : tombstones) {
    // Otherwise the column's own lie in shards that are gone.
    if (row.column_id == column && !keeps_tombstones) continue;
    append_row(row, changes.tombstone_rows);
    ++changes.tombstone_count;
  }
  return write_copied_index(view.env(), view.manifest(), changes, folder, manifest);
}

}  // namespace xtts::maintain
