// RowFiller: one clip's records into one row of a batch: verified, cropped, copied, converted where
// another dtype is asked for, and filled up to the fixed length. The only code that writes to
// batches.
//
// Immutable; any number of threads, each with a scratch of its own, and each row by one of them.
// Failures: as BlockMap; names the clip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "loader/batch_layout.hpp"
#include "loader/batch_slot.hpp"
#include "reader/block_map.hpp"
#include "reader/cache_set.hpp"
#include "xtts/status.hpp"

namespace xtts::loader {

// What a filling thread keeps from row to row.
struct FillScratch {
  std::vector<std::byte> bytes;  // on their way to another dtype
};

class RowFiller {
 public:
  // It must outlive it.
  explicit RowFiller(const reader::CacheSet& caches) : caches_(caches) {}

  // Columns that lie in place are verified and not copied.
  [[nodiscard]] Status fill(BatchSlot& slot, std::uint32_t row, reader::Check check,
                            FillScratch& scratch) const;
  // A row that no clip is left for: padding and length 0.
  void fill_empty(BatchSlot& slot, std::uint32_t row) const;

 private:
  const reader::CacheSet& caches_;
};

}  // namespace xtts::loader
