#include "loader/row_filler.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/channel_norm.hpp"
#include "base/convert_floats.hpp"
#include "base/float_range.hpp"
#include "base/half.hpp"
#include "base/try.hpp"
#include "formats/fill_number.hpp"
#include "loader/epoch_order.hpp"

namespace xtts::loader {
namespace {

void store_int(device::SlotMemory& slot, std::size_t offset_bytes, std::uint32_t row,
               std::int32_t value) {
  std::memcpy(slot.host().data() + offset_bytes + row * sizeof value, &value, sizeof value);
}

// The rows of a record that go into a batch.
struct Rows {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

Rows rows_of(const IndexedRows& indexed, std::uint32_t row, const ColumnLayout& column,
             std::uint64_t length) {
  Rows rows{.first = 0, .count = length};
  if (!indexed.first_frames.empty() && column.rows_per_frame > 0) {
    rows.first = std::min(std::uint64_t{indexed.first_frames[row]} * column.rows_per_frame, length);
    rows.count = length - rows.first;
  }
  rows.count = std::min<std::uint64_t>(rows.count, column.row_count);
  return rows;
}

// True where the record is as long as the index says. Bucket and crop were chosen by those lengths.
// If a frame has several rows, some rows of the last frame may be missing.
bool is_as_long_as_indexed(const IndexedRows& indexed, std::uint32_t row,
                           const ColumnLayout& column, std::uint64_t length, const Rows& rows) {
  if (indexed.first_frames.empty() || column.rows_per_frame == 0) return rows.count == length;
  if (indexed.first_frames[row] == 0) return true;
  const std::uint32_t missing_rows_max = column.rows_per_frame > 1 ? column.rows_per_frame : 0;
  return rows.count + missing_rows_max >= column.row_count;
}

// Values are changed in pieces that stay in the processor's nearest cache for a second look.
constexpr std::size_t kPieceValues = 4096;

// Converts or normalizes stored rows as the batch wants them.
void change(std::span<const std::byte> in, const ColumnLayout& column, std::span<std::byte> out,
            std::size_t first_channel = 0) {
  const DType from = column.column->spec.dtype;
  if (column.norm == nullptr) return convert_floats(in, from, out, column.dtype);
  column.norm->apply(in, from, out, column.dtype, first_channel);
}

// Finds the finite values of a piece that became infinite, and makes them the largest of the dtype.
void saturate(std::span<const std::byte> in, const ColumnLayout& column, std::span<std::byte> out,
              std::size_t first_channel, Saturated& saturated) {
  const bool is_float16 = column.dtype == DType::kFloat16;
  const std::uint16_t largest = is_float16 ? kLargestFloat16 : kLargestBFloat16;
  const DType from = column.column->spec.dtype;
  const std::span<std::uint16_t> halves = numbers_in<std::uint16_t>(out);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    if ((halves[i] & 0x7FFFU) <= largest) continue;
    const auto stored = in.subspan(i * size_bytes(from), size_bytes(from));
    float value = 0.0F;
    const auto wide = std::as_writable_bytes(std::span(&value, 1));
    if (column.norm != nullptr) {
      column.norm->apply(stored, from, wide, DType::kFloat32,
                         (first_channel + i) % column.norm->channel_count());
    } else if (from == DType::kFloat32) {
      std::ranges::copy(stored, wide.begin());
    } else {
      widen_floats(stored, from, std::span(&value, 1));
    }
    if (!std::isfinite(value)) continue;
    if (saturated.count++ == 0) saturated.value = value;
    halves[i] = static_cast<std::uint16_t>((halves[i] & 0x8000U) | largest);
  }
}

void change_within_range(std::span<const std::byte> in, const ColumnLayout& column,
                         std::span<std::byte> out, Saturated& saturated) {
  const std::size_t from_bytes = size_bytes(column.column->spec.dtype);
  const std::size_t count = in.size() / from_bytes;
  for (std::size_t done = 0; done < count; done += kPieceValues) {
    const std::size_t now = std::min(kPieceValues, count - done);
    const auto piece_in = in.subspan(done * from_bytes, now * from_bytes);
    const auto piece_out = out.subspan(done * sizeof(std::uint16_t), now * sizeof(std::uint16_t));
    const std::size_t first_channel =
        column.norm == nullptr ? 0 : done % column.norm->channel_count();
    change(piece_in, column, piece_out, first_channel);
    if (count_nonfinite(piece_out, column.dtype) > 0)
      saturate(piece_in, column, piece_out, first_channel, saturated);
  }
}

// Changes rows on their way from where they lie into the batch, with no buffer between.
Status copy_changed(RowRecords& records, const ColumnLayout& column, std::uint64_t offset_bytes,
                    std::span<std::byte> out, Saturated& saturated) {
  struct Change {
    const ColumnLayout& column;
    std::span<std::byte> out;
    Saturated saturated;
  } job{column, out, {}};
  const auto run = [](void* context, std::span<const std::byte> in) {
    auto& [of_column, to, found] = *static_cast<Change*>(context);
    found = {};  // bytes that could not be read the first time are shown again
    if (!of_column.may_overflow) return change(in, of_column, to);
    change_within_range(in, of_column, to, found);
  };
  const std::size_t stored_bytes =
      out.size() / size_bytes(column.dtype) * size_bytes(column.column->spec.dtype);
  const Status status = records.show(offset_bytes, stored_bytes, run, &job);
  saturated = job.saturated;
  return status;
}

void add(const Saturated& found, std::size_t column, Saturated& sum) {
  if (found.count == 0) return;
  if (sum.count == 0) sum = {.count = 0, .column = column, .value = found.value};
  sum.count += found.count;
}

// Lets the device widen and normalize, where it does: half as many bytes cross the bus then.
bool device_changes(device::SlotMemory& memory, const ColumnLayout& column,
                    std::size_t offset_bytes, std::size_t range_bytes) {
  if (range_bytes == 0 || !column.may_be_changed_by_device()) return false;
  return memory.change(
      offset_bytes, range_bytes,
      {.from = column.column->spec.dtype, .to = column.dtype, .norm = column.norm.get()});
}

}  // namespace

std::uint32_t first_frame_of_crop(const BatchClips& clips, std::uint32_t row, std::uint32_t frames,
                                  const RowOptions& options) {
  if (frames <= options.crop_frames) return 0;
  return crop_choice(options.seed, clips.epoch, clips.epoch_places[row],
                     frames - options.crop_frames + 1);
}

Result<Saturated> place_records(const BatchSlot& slot, std::uint32_t row, RowRecords& records,
                                reader::Check check) {
  device::SlotMemory& memory = *slot.memory;
  Saturated saturated;
  for (std::size_t i = 0; i < slot.clips.layout->columns.size(); ++i) {
    const ColumnLayout& column = slot.clips.layout->columns[i];
    XTTS_ASSIGN(const RecordHead record, records.find(i));
    const Rows rows = rows_of(slot.indexed, row, column, record.length);
    if (check == reader::Check::kRecord &&
        !is_as_long_as_indexed(slot.indexed, row, column, record.length, rows)) {
      return records.wrong_length(column, record.length);
    }
    store_int(memory, column.lengths_offset_bytes, row, static_cast<std::int32_t>(rows.count));
    if (slot.in_place[i].mapping != nullptr) {
      XTTS_TRY(records.verify_in_place());
      continue;
    }
    const std::size_t true_bytes = rows.count * column.row_bytes;
    const std::size_t offset = column.offset_bytes + row * column.record_bytes;
    const std::uint64_t from = rows.first * column.stored_row_bytes;
    if (!column.is_changed() || device_changes(memory, column, offset, true_bytes)) {
      XTTS_TRY(records.copy_bytes(from, rows.count * column.stored_row_bytes, memory, offset));
    } else {
      Saturated found;
      XTTS_TRY(
          copy_changed(records, column, from, memory.staging().subspan(offset, true_bytes), found));
      add(found, i, saturated);
    }
    memory.fill(offset + true_bytes, column.record_bytes - true_bytes,
                column.padding(record.fill_bits));
    if (column.is_padding_saturated(record.fill_bits)) {
      const auto fill =
          static_cast<float>(formats::fill_number(column.column->spec.dtype, record.fill_bits));
      add({.count = (column.record_bytes - true_bytes) / size_bytes(column.dtype), .value = fill},
          i, saturated);
    }
  }
  return saturated;
}

void fill_empty_row(const BatchSlot& slot, std::uint32_t row) {
  device::SlotMemory& memory = *slot.memory;
  for (const ColumnLayout& column : slot.clips.layout->columns) {
    memory.fill(column.offset_bytes + row * column.record_bytes, column.record_bytes,
                column.padding(column.column->fill_bits));
    store_int(memory, column.lengths_offset_bytes, row, 0);
  }
}

}  // namespace xtts::loader
