#include "loader/row_filler.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>

#include "base/half.hpp"
#include "base/try.hpp"
#include "reader/index_reader.hpp"

namespace xtts::loader {
namespace {

// What is converted at a time: it stays in the first levels of the core's cache on its way.
constexpr std::size_t kPieceBytes = std::size_t{32} << 10U;

template <typename Number>
std::span<const Number> numbers_in(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const Number*>(bytes.data()), bytes.size() / sizeof(Number)};
}
template <typename Number>
std::span<Number> numbers_in(std::span<std::byte> bytes) {
  return {reinterpret_cast<Number*>(bytes.data()), bytes.size() / sizeof(Number)};
}

void widen(std::span<const std::byte> in, DType from, std::span<float> out) {
  if (from == DType::kFloat16) return from_float16(numbers_in<std::uint16_t>(in), out);
  from_bfloat16(numbers_in<std::uint16_t>(in), out);
}

void narrow(std::span<const float> in, DType to, std::span<std::byte> out) {
  if (to == DType::kFloat16) return to_float16(in, numbers_in<std::uint16_t>(out));
  to_bfloat16(in, numbers_in<std::uint16_t>(out));
}

// Both are float types and differ.
void convert(std::span<const std::byte> in, DType from, std::span<std::byte> out, DType to) {
  if (from == DType::kFloat32) return narrow(numbers_in<float>(in), to, out);
  if (to == DType::kFloat32) return widen(in, from, numbers_in<float>(out));
  std::array<float, 256> between;
  const std::size_t count = in.size() / size_bytes(from);
  for (std::size_t done = 0; done < count; done += between.size()) {
    const std::size_t now = std::min(between.size(), count - done);
    const std::span<float> floats = std::span(between).first(now);
    widen(in.subspan(done * size_bytes(from), now * size_bytes(from)), from, floats);
    narrow(floats, to, out.subspan(done * size_bytes(to), now * size_bytes(to)));
  }
}

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

Status copy_converted(const reader::RecordPlace& place, const ColumnLayout& column,
                      std::uint64_t offset_bytes, std::span<std::byte> out, reader::Check check,
                      FillScratch& scratch) {
  const DType from = column.column->spec.dtype;
  const std::size_t total = out.size() / size_bytes(column.dtype) * size_bytes(from);
  // What cannot be mapped is read and verified whole each time, so in one piece.
  const std::size_t piece_bytes = place.is_mapped() ? std::min(total, kPieceBytes) : total;
  scratch.bytes.resize(std::max(scratch.bytes.size(), piece_bytes));
  if (total == 0) return place.map->copy(place, 0, {}, check);
  for (std::size_t done = 0; done < total; done += piece_bytes) {
    const std::size_t now = std::min(piece_bytes, total - done);
    const std::span<std::byte> piece = std::span(scratch.bytes).first(now);
    XTTS_TRY(place.map->copy(place, offset_bytes + done, piece, check));
    const std::size_t count = now / size_bytes(from);
    convert(piece, from,
            out.subspan(done / size_bytes(from) * size_bytes(column.dtype),
                        count * size_bytes(column.dtype)),
            column.dtype);
  }
  return {};
}

// From memory that was checked already.
void copy_staged(std::span<const std::byte> in, const ColumnLayout& column,
                 std::span<std::byte> out) {
  if (column.is_converted()) {
    convert(in, column.column->spec.dtype, out, column.dtype);
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

Status RowFiller::fill(BatchSlot& slot, std::uint32_t row, reader::Check check,
                       FillScratch& scratch) const {
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
    } else if (column.is_converted()) {
      XTTS_TRY(copy_converted(place, column, from, out, check, scratch));
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
