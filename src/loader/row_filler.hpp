// RowFiller: one clip's records into one row of a batch: verified, cropped, copied, converted where
// another dtype is asked for, normalized where that is, and filled up to the fixed length. The only
// code that writes to batches.
//
// Immutable; any number of threads, each row by one of them.
// Failures: as BlockMap; names the clip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "loader/batch_layout.hpp"
#include "loader/batch_slot.hpp"
#include "loader/record_staging.hpp"
#include "reader/block_map.hpp"
#include "reader/cache_set.hpp"
#include "xtts/status.hpp"

namespace xtts::loader {

class RowFiller {
 public:
  // Both must outlive it; `staging` may be null.
  RowFiller(const reader::CacheSet& caches, RecordStaging* staging)
      : caches_(caches), staging_(staging) {}

  // Columns that lie in place are verified and not copied.
  [[nodiscard]] Status fill(BatchSlot& slot, std::uint32_t row, reader::Check check) const;
  // A row that no clip is left for: padding and length 0.
  void fill_empty(BatchSlot& slot, std::uint32_t row) const;

 private:
  [[nodiscard]] std::span<const std::byte> staged_record(const BatchSlot& slot, std::size_t column,
                                                         std::uint32_t row,
                                                         reader::Check check) const;

  const reader::CacheSet& caches_;
  RecordStaging* staging_;
};

}  // namespace xtts::loader
