// One clip's records into one row of a batch: cropped, copied, converted where another dtype is
// asked for, normalized where that is, and filled up to the fixed length. The only code that writes
// to batches.
//
// Any number of threads, each row by one of them. Failures: those of the row's records; kCorrupt
// where a record is not as long as it was said to be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/guarded_read.hpp"
#include "loader/batch_layout.hpp"
#include "loader/batch_slot.hpp"
#include "reader/block_map.hpp"
#include "xtts/status.hpp"

namespace xtts::loader {

// What the reader's options say of rows.
struct RowOptions {
  reader::Check check = reader::Check::kRecord;
  std::uint32_t crop_frames = 0;  // 0: whole clips
  std::uint64_t seed = 0;
};

// A record, before its rows are asked for.
struct RecordHead {
  std::uint32_t length = 0;     // of axis 0, without padding
  std::uint32_t fill_bits = 0;  // of what stands behind that
};

// The records of one row's clip, a column of the layout at a time: find() comes first. Offsets and
// sizes are of the record as stored.
class RowRecords {
 public:
  virtual ~RowRecords() = default;
  [[nodiscard]] virtual Result<RecordHead> find(std::size_t column) = 0;
  // Of a column that lies in place: is the record sound there?
  [[nodiscard]] virtual Status verify_in_place() = 0;
  [[nodiscard]] virtual Status copy(std::uint64_t offset_bytes, std::span<std::byte> out) = 0;
  // Shows these bytes to `reader`, which guarded_read.hpp says more of.
  [[nodiscard]] virtual Status show(std::uint64_t offset_bytes, std::size_t size_bytes,
                                    GuardedReader reader, void* context) = 0;
  // Bucket and crop were chosen by another length.
  [[nodiscard]] virtual Status wrong_length(const ColumnLayout& column,
                                            std::uint64_t length) const = 0;
};

// Where a crop begins, in a clip of so many frames (order-v1.md, §8).
[[nodiscard]] std::uint32_t first_frame_of_crop(const BatchSlot& slot, std::uint32_t row,
                                                std::uint32_t frames, const RowOptions& options);

[[nodiscard]] Status fill_row(BatchSlot& slot, std::uint32_t row, RowRecords& records,
                              reader::Check check);
// A row that no clip is left for: padding and length 0.
void fill_empty_row(BatchSlot& slot, std::uint32_t row);

}  // namespace xtts::loader
