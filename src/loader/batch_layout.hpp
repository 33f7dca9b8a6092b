// BatchLayout says what lies where in the memory of a batch.
//
// The consumer's device gets one array for each column: [batch, shape of a record]. The host gets,
// on every device, the true lengths of each column, the speakers and the languages. Each array
// begins at a multiple of 256 bytes, the alignment that GPU kernels and DLPack consumers like best.
// Large arrays begin on a page.
//
// Immutable, share freely. Failures:
// - kNotFound: no such column, or one that lacks clips.
// - kInvalidArgument: a column cannot be converted, padded or normalized as asked, or is asked for
//   twice.
// - kMismatch: caches with different statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/channel_norm.hpp"
#include "device/device.hpp"
#include "formats/manifest.hpp"
#include "reader/clip_set.hpp"
#include "xtts/batch.hpp"
#include "xtts/dtype.hpp"
#include "xtts/status.hpp"

namespace xtts::loader {

// Limits on the length of a batch's records. 0: as the cache has them.
struct LengthLimits {
  std::uint32_t frames_max = 0;  // for columns along frames, in proportion
  std::uint32_t tokens_max = 0;  // for columns along tokens
};

struct ColumnLayout {
  const reader::SharedColumn* shared = nullptr;
  const formats::ColumnEntry* column = nullptr;  // of the first cache
  DType dtype = DType::kFloat32;                 // in the batch
  std::optional<double> pad_value = {};
  std::shared_ptr<const ChannelNorm> norm = {};  // for the true rows; null: as stored
  bool may_overflow = false;                     // a finite value may be too large for `dtype`
  std::uint32_t row_count = 0;                   // rows of a record in the batch, with padding
  std::uint32_t rows_per_frame = 0;              // 0: the column does not go along frames
  std::uint64_t stored_row_bytes = 0;            // one row (a step of axis 0) on disk
  std::uint64_t row_bytes = 0;                   // one row in the batch
  std::uint64_t record_bytes = 0;                // a whole padded record in the batch
  std::size_t offset_bytes = 0;                  // of the column's array
  std::size_t lengths_offset_bytes = 0;          // int32 [batch], on the host

  [[nodiscard]] bool is_converted() const noexcept { return column->spec.dtype != dtype; }
  // True where the batch has other numbers than the cache.
  [[nodiscard]] bool is_changed() const noexcept { return is_converted() || norm != nullptr; }
  // Values that become wider, or stay as wide, may be changed by a device. Those that become
  // narrower cross the bus narrow, so the host changes them. So it does those that the dtype may
  // not hold: nobody waits for a device, but such a batch must be refused before it is handed out.
  [[nodiscard]] bool may_be_changed_by_device() const noexcept {
    return is_changed() && !may_overflow && size_bytes(column->spec.dtype) <= size_bytes(dtype);
  }
  [[nodiscard]] bool is_shortened() const noexcept { return row_count < column->spec.shape[0]; }
  // The pattern behind the true rows of a record with these fill bits.
  [[nodiscard]] device::Pattern padding(std::uint32_t fill_bits) const noexcept;
  // True where the dtype cannot hold the record's own fill value: padding() gives its largest.
  [[nodiscard]] bool is_padding_saturated(std::uint32_t fill_bits) const noexcept;
};

struct BatchLayout {
  std::uint32_t batch_size = 0;
  std::vector<ColumnLayout> columns;
  std::size_t speakers_offset_bytes = 0;   // int32 [batch], on the host
  std::size_t languages_offset_bytes = 0;  // int32 [batch], on the host
  device::SlotBytes size;

  // `clips` must outlive the layout.
  [[nodiscard]] static Result<BatchLayout> plan(const reader::ClipSet& clips,
                                                const std::vector<ColumnRequest>& requests,
                                                std::uint32_t batch_size,
                                                const LengthLimits& limits = {});
};

}  // namespace xtts::loader
