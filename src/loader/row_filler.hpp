// RowFiller: one clip's records into one row of a batch: verified, copied, converted where another
// dtype is asked for, and filled up to the fixed length. The only code that writes to batches.
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
#include "xtts/status.hpp"

namespace xtts::loader {

// What a filling thread keeps from row to row.
struct FillScratch {
  std::vector<std::byte> bytes;  // on their way to another dtype
};

class RowFiller {
 public:
  // Both must outlive it.
  RowFiller(reader::BlockMap& blocks, const BatchLayout& layout)
      : blocks_(blocks), layout_(layout) {}

  // Columns that lie in place are verified and not copied.
  [[nodiscard]] Status fill(BatchSlot& slot, std::uint32_t row, reader::Check check,
                            FillScratch& scratch) const;
  // A row that no clip is left for: padding and length 0.
  void fill_empty(BatchSlot& slot, std::uint32_t row) const;

 private:
  [[nodiscard]] Status copy_converted(const reader::RecordPlace& place, const ColumnLayout& column,
                                      std::span<std::byte> out, reader::Check check,
                                      FillScratch& scratch) const;

  reader::BlockMap& blocks_;
  const BatchLayout& layout_;
};

}  // namespace xtts::loader
