#include "loader/row_filler.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "base/channel_norm.hpp"
#include "base/convert_floats.hpp"
#include "base/try.hpp"
#include "reader/index_reader.hpp"

namespace xtts::loader {
namespace {

void store_int(gpu::SlotMemory& slot, std::size_t offset_bytes, std::uint32_t row,
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

// Bucket and crop were chosen by the index's lengths: whether the record is as long. Where a frame
// has several rows, the last one's need not all be there.
bool keeps_its_word(const BatchSlot& slot, std::uint32_t row, const ColumnLayout& column,
                    std::uint64_t length, const Rows& rows) {
  if (slot.first_frames.empty() || column.rows_per_frame == 0) return rows.count == length;
  if (slot.first_frames[row] == 0) return true;
  const std::uint32_t missing_rows_max = column.rows_per_frame > 1 ? column.rows_per_frame : 0;
  return rows.count + missing_rows_max >= column.row_count;
}

Status wrong_length(const reader::CacheSet& caches, const ColumnLayout& column,
                    std::uint64_t position, std::uint64_t length) {
  const auto facts = caches.details(position);
  return {StatusCode::kCorrupt,
          "reading " + column.column->spec.name + " of clip " +
              (facts.ok() ? reader::full_id(*facts) : "at position " + std::to_string(position)) +
              ": the record has " + std::to_string(length) +
              " rows, and the index says otherwise: run xtts-precompute verify"};
}

// Stored rows as the batch shall have them.
void change(std::span<const std::byte> in, const ColumnLayout& column, std::span<std::byte> out) {
  const DType from = column.column->spec.dtype;
  if (column.norm == nullptr) return convert_floats(in, from, out, column.dtype);
  column.norm->apply(in, from, out, column.dtype);
}

// Straight from where they lie into the batch: nothing in between that has to be written first.
Status copy_changed(const reader::RecordPlace& place, const ColumnLayout& column,
                    std::uint64_t offset_bytes, std::span<std::byte> out, reader::Check check) {
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
  return place.map->read(place, offset_bytes, stored_bytes, run, &job, check);
}

// From memory that was checked already.
void copy_staged(std::span<const std::byte> in, const ColumnLayout& column,
                 std::span<std::byte> out) {
  if (column.is_changed()) {
    change(in, column, out);
  } else if (!out.empty()) {
    std::memcpy(out.data(), in.data(), out.size());
  }
}

}  // namespace

// The record as it came past the page cache, if it did, and is what was written. Where it is not,
// the ordinary path says what is wrong with it.
std::span<const std::byte> RowFiller::staged_record(const BatchSlot& slot, std::size_t column,
                                                    std::uint32_t row, reader::Check check) const {
  const bool is_staged = column < slot.tickets.size() && row < slot.tickets[column].size() &&
                         slot.tickets[column][row] != kNoTicket;
  if (!is_staged) return {};
  const std::span<const std::byte> region = staging_->wait_for(slot.tickets[column][row]);
  if (region.empty() || check == reader::Check::kNothing) return region;
  const reader::RecordPlace& place = slot.places[column][row];
  if (place.map->check(place, region).ok()) return region;
  staging_->count_as_failed();
  return {};
}

Status RowFiller::fill(BatchSlot& slot, std::uint32_t row, reader::Check check) const {
  gpu::SlotMemory& memory = *slot.memory;
  for (std::size_t i = 0; i < slot.layout->columns.size(); ++i) {
    const ColumnLayout& column = slot.layout->columns[i];
    reader::RecordPlace place = slot.places[i][row];
    // It could not be found before: this says why, or finds it after all.
    if (place.block == nullptr) {
      XTTS_ASSIGN(place, caches_.locate_record(*column.shared, slot.positions[row]));
    }
    const Rows rows = rows_of(slot, row, column, place.record().length);
    if (check == reader::Check::kRecord &&
        !keeps_its_word(slot, row, column, place.record().length, rows)) {
      return wrong_length(caches_, column, slot.positions[row], place.record().length);
    }
    store_int(memory, column.lengths_offset_bytes, row, static_cast<std::int32_t>(rows.count));
    if (slot.in_place[i].mapping != nullptr) {
      if (check == reader::Check::kRecord) {
        XTTS_TRY(place.map->verify(place));
        // Sound where it lies, or only as the disk gave it to another call?
        if (!place.map->is_verified(place)) slot.must_copy = true;
      }
      continue;
    }
    const std::size_t true_bytes = rows.count * column.row_bytes;
    const std::size_t offset = column.offset_bytes + row * column.record_bytes;
    const std::span<std::byte> out = memory.host().subspan(offset, true_bytes);
    const std::uint64_t from = rows.first * column.stored_row_bytes;
    if (const auto staged = staged_record(slot, i, row, check); !staged.empty()) {
      copy_staged(staged.subspan(from, rows.count * column.stored_row_bytes), column, out);
    } else if (column.is_changed()) {
      XTTS_TRY(copy_changed(place, column, from, out, check));
    } else {
      XTTS_TRY(place.map->copy(place, from, out, check));
    }
    memory.fill(offset + true_bytes, column.record_bytes - true_bytes,
                column.padding(place.record().fill_bits));
  }
  return {};
}

void RowFiller::fill_empty(BatchSlot& slot, std::uint32_t row) const {
  gpu::SlotMemory& memory = *slot.memory;
  for (const ColumnLayout& column : slot.layout->columns) {
    memory.fill(column.offset_bytes + row * column.record_bytes, column.record_bytes,
                column.padding(column.column->fill_bits));
    store_int(memory, column.lengths_offset_bytes, row, 0);
  }
}

}  // namespace xtts::loader
