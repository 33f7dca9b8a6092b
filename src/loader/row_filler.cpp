#include "loader/row_filler.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/channel_norm.hpp"
#include "base/convert_floats.hpp"
#include "base/try.hpp"
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

Rows rows_of(const BatchSlot& slot, std::uint32_t row, const ColumnLayout& column,
             std::uint64_t length) {
  Rows rows{.first = 0, .count = length};
  if (!slot.first_frames.empty() && column.rows_per_frame > 0) {
    rows.first = std::min(std::uint64_t{slot.first_frames[row]} * column.rows_per_frame, length);
    rows.count = length - rows.first;
  }
  rows.count = std::min<std::uint64_t>(rows.count, column.row_count);
  return rows;
}

// True where the record is as long as the index says. Bucket and crop were chosen by those lengths.
// If a frame has several rows, some rows of the last frame may be missing.
bool is_as_long_as_indexed(const BatchSlot& slot, std::uint32_t row, const ColumnLayout& column,
                           std::uint64_t length, const Rows& rows) {
  if (slot.first_frames.empty() || column.rows_per_frame == 0) return rows.count == length;
  if (slot.first_frames[row] == 0) return true;
  const std::uint32_t missing_rows_max = column.rows_per_frame > 1 ? column.rows_per_frame : 0;
  return rows.count + missing_rows_max >= column.row_count;
}

// Converts or normalizes stored rows as the batch wants them.
void change(std::span<const std::byte> in, const ColumnLayout& column, std::span<std::byte> out) {
  const DType from = column.column->spec.dtype;
  if (column.norm == nullptr) return convert_floats(in, from, out, column.dtype);
  column.norm->apply(in, from, out, column.dtype);
}

// Changes rows on their way from where they lie into the batch, with no buffer between.
Status copy_changed(RowRecords& records, const ColumnLayout& column, std::uint64_t offset_bytes,
                    std::span<std::byte> out) {
  struct Change {
    const ColumnLayout& column;
    std::span<std::byte> out;
  } job{column, out};
  const auto run = [](void* context, std::span<const std::byte> in) {
    const auto& [of_column, to] = *static_cast<const Change*>(context);
    change(in, of_column, to);
  };
  const std::size_t stored_bytes =
      out.size() / size_bytes(column.dtype) * size_bytes(column.column->spec.dtype);
  return records.show(offset_bytes, stored_bytes, run, &job);
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

std::uint32_t first_frame_of_crop(const BatchSlot& slot, std::uint32_t row, std::uint32_t frames,
                                  const RowOptions& options) {
  if (frames <= options.crop_frames) return 0;
  return crop_choice(options.seed, slot.epoch, slot.epoch_places[row],
                     frames - options.crop_frames + 1);
}

Status fill_row(BatchSlot& slot, std::uint32_t row, RowRecords& records, reader::Check check) {
  device::SlotMemory& memory = *slot.memory;
  for (std::size_t i = 0; i < slot.layout->columns.size(); ++i) {
    const ColumnLayout& column = slot.layout->columns[i];
    XTTS_ASSIGN(const RecordHead record, records.find(i));
    const Rows rows = rows_of(slot, row, column, record.length);
    if (check == reader::Check::kRecord &&
        !is_as_long_as_indexed(slot, row, column, record.length, rows)) {
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
      XTTS_TRY(records.bring(from, rows.count * column.stored_row_bytes, memory, offset));
    } else {
      XTTS_TRY(copy_changed(records, column, from, memory.staging().subspan(offset, true_bytes)));
    }
    memory.fill(offset + true_bytes, column.record_bytes - true_bytes,
                column.padding(record.fill_bits));
  }
  return {};
}

void fill_empty_row(BatchSlot& slot, std::uint32_t row) {
  device::SlotMemory& memory = *slot.memory;
  for (const ColumnLayout& column : slot.layout->columns) {
    memory.fill(column.offset_bytes + row * column.record_bytes, column.record_bytes,
                column.padding(column.column->fill_bits));
    store_int(memory, column.lengths_offset_bytes, row, 0);
  }
}

}  // namespace xtts::loader
