// Fills one row of a batch with one clip's records. It crops and copies them, converts them to the
// dtype that was asked for, normalizes them where asked, and pads them to the fixed length. No
// other code writes columns and lengths into batches.
//
// Any number of threads, each row by one of them. Failures: those of the row's records. Where a
// record is not as long as expected: what RowRecords::wrong_length() says. Values that the dtype
// cannot hold are no failure here: they are saturated, and place_records() tells of them.
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

// The reader's options that concern rows.
struct RowOptions {
  reader::Check check = reader::Check::kRecord;
  std::uint32_t crop_frames = 0;  // 0: whole clips
  std::uint64_t seed = 0;
};

// The facts of a record that are needed before its rows.
struct RecordHead {
  std::uint32_t length = 0;     // true rows, without padding
  std::uint32_t fill_bits = 0;  // the value of the padding
};

// The records of one row's clip. find() chooses a column of the layout; the other functions are
// about its record. Offsets and sizes are those of the record as stored.
class RowRecords {
 public:
  virtual ~RowRecords() = default;
  [[nodiscard]] virtual Result<RecordHead> find(std::size_t column) = 0;
  // Checks the record of a column that lies in place.
  [[nodiscard]] virtual Status verify_in_place() = 0;
  // Copies these bytes to `place` in the slot's staging memory, or to its device otherwise.
  [[nodiscard]] virtual Status copy_bytes(std::uint64_t offset_bytes, std::size_t size_bytes,
                                          device::SlotMemory& slot, std::size_t place) = 0;
  // Shows these bytes to `reader` (guarded_read.hpp).
  [[nodiscard]] virtual Status show(std::uint64_t offset_bytes, std::size_t size_bytes,
                                    GuardedReader reader, void* context) = 0;
  // The failure for a record that is not as long as bucket and crop were chosen by.
  [[nodiscard]] virtual Status wrong_length(const ColumnLayout& column,
                                            std::uint64_t length) const = 0;
};

// The first frame of a row's crop, in a clip with so many frames (order-v1.md, §8).
[[nodiscard]] std::uint32_t first_frame_of_crop(const BatchClips& clips, std::uint32_t row,
                                                std::uint32_t frames, const RowOptions& options);

// Writes to the slot's memory alone.
[[nodiscard]] Result<Saturated> place_records(const BatchSlot& slot, std::uint32_t row,
                                              RowRecords& records, reader::Check check);
// Fills a row that has no clip: padding and length 0.
void fill_empty_row(const BatchSlot& slot, std::uint32_t row);

}  // namespace xtts::loader
