// BatchSlot: one batch, from the choice of its clips to its consumer. It belongs to the ring. The
// ring hands its parts to fillers, then the whole slot to the consumer, which only reads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/file_mapping.hpp"
#include "device/device.hpp"
#include "loader/batch_layout.hpp"
#include "reader/block_map.hpp"
#include "xtts/clip_source.hpp"
#include "xtts/status.hpp"

namespace xtts::loader {

// A column's array where it lies in the cache itself.
struct ColumnInPlace {
  std::shared_ptr<const FileMapping> mapping;  // null: the array is in the slot's memory
  const std::byte* data = nullptr;
};

// By row: where a column's record lies. A place without a block could not be found. The filler of
// its row finds out why.
using Places = std::vector<reader::RecordPlace>;

// A clip whose records are not what was written, cannot be read, or do not exist.
struct FoundDamage {
  std::uint64_t position = 0;
  std::string text;
  bool is_reject = false;  // the clip has no record, and nothing is damaged
};

// The values of a row that became the largest of their column's dtype, because it cannot hold them.
struct Saturated {
  std::uint64_t count = 0;
  std::size_t column = 0;  // of the first one
  float value = 0.0F;      // the first one, as it was
};

// By row: the ticket of its staged record (record_staging.hpp). Its highest bit tells that the slot
// has borrowed the record, so that the ticket is released after the upload, and not with its row.
using Tickets = std::vector<std::uint64_t>;
constexpr std::uint64_t kNoTicket = UINT64_MAX;
constexpr std::uint64_t kBorrowedBit = std::uint64_t{1} << 63U;

constexpr bool is_borrowed(std::uint64_t ticket) noexcept {
  return ticket != kNoTicket && (ticket & kBorrowedBit) != 0;
}
constexpr std::uint64_t borrowed_ticket(std::uint64_t ticket) noexcept {
  return ticket | kBorrowedBit;
}
constexpr std::uint64_t ticket_number(std::uint64_t ticket) noexcept {
  return ticket & ~kBorrowedBit;
}

// The clips of a batch. RecordFeed::take() chooses them. finish() removes those that are damaged.
struct BatchClips {
  std::uint64_t epoch = 0;
  std::uint32_t bucket = 0;
  const BatchLayout* layout = nullptr;           // the layout of its bucket; the loader's
  std::vector<std::uint64_t> positions = {};     // by row; rows that hold a clip come first
  std::vector<std::uint64_t> epoch_places = {};  // where the epoch has them, by row
};

// The clips in the index, by row. Written when the batch is begun.
struct IndexedRows {
  std::vector<std::uint32_t> first_frames;  // where the crops begin; empty without crops
  std::vector<std::int32_t> speakers;       // -1: unknown, or no clip
  std::vector<std::int32_t> languages;
};

// The records, as the feed has prepared them.
struct BatchRecords {
  bool are_found = false;             // `places` and `tickets` were looked up
  std::vector<Places> places = {};    // by column of the layout, then by row
  std::vector<Tickets> tickets = {};  // by column; empty for columns that are not staged
  // By row: clips that were computed for the batch, kept until it is whole.
  std::vector<std::unique_ptr<SourceRecord>> computed = {};
};

// Findings of the threads that fill the rows.
struct FoundInRows {
  std::vector<std::uint8_t> is_damaged;       // by row; written by the filler of the row
  std::vector<Saturated> saturated;           // by row; written by the filler of the row
  std::vector<FoundDamage> damage;            // each clip once; guarded by the filler's lock
  std::atomic<std::uint32_t> read_count = 0;  // rows that were not found in memory
  // A column in place holds a record that cannot be read there.
  std::atomic<bool> must_copy = false;
};

// Written by finish().
struct FinishedBatch {
  // When it has come to pass, the columns that are not in place may be read. Belongs to the memory.
  const device::Event* uploaded = nullptr;
  std::uint64_t true_bytes = 0;      // of the valid rows
  std::uint64_t left_out_count = 0;  // rows that are not in the batch because of damage
};

struct BatchSlot {
  // The ring's.
  device::SlotMemory* memory = nullptr;  // set before the first part is filled
  Status failure;                        // why there is no batch
  // Set by begin().
  std::uint64_t step = 0;
  std::uint32_t part_count = 1;
  BatchClips clips;
  IndexedRows indexed;
  std::vector<ColumnInPlace> in_place;  // by column of the layout
  // The feed's, the fillers' and finish()'s.
  BatchRecords records;
  FoundInRows found;
  FinishedBatch finished;

  // Where the consumer finds a column of the layout, once it is uploaded.
  [[nodiscard]] const std::byte* column_data(std::size_t column) const {
    if (in_place[column].mapping != nullptr) return in_place[column].data;
    return memory->consumer_data() + clips.layout->columns[column].offset_bytes;
  }
  // By row: the numbers at one of the layout's offsets for the host.
  [[nodiscard]] std::span<const std::int32_t> ints_at(std::size_t offset_bytes) const {
    return {reinterpret_cast<const std::int32_t*>(memory->host().data() + offset_bytes),
            clips.layout->batch_size};
  }
};

// BatchWork: what the ring's threads do with a slot.
//
// - begin() comes first. Batches are begun one at a time, in the order of their steps. It has no
//   memory yet to write to. It sets part_count, which is at least 1.
// - fill_part() runs for each part, several at the same time. A part that fails does not keep the
//   others from running. The first failure is the slot's.
// - drop_part() replaces fill_part() where the part's memory cannot be had.
// - finish() comes last and begins the upload.
// - drop() comes last where a part or finish() has failed.
class BatchWork {
 public:
  virtual ~BatchWork() = default;
  [[nodiscard]] virtual Status begin(BatchSlot& slot, std::uint64_t step) = 0;
  [[nodiscard]] virtual Status fill_part(BatchSlot& slot, std::uint32_t part) = 0;
  virtual void drop_part(BatchSlot& slot, std::uint32_t part) noexcept = 0;
  [[nodiscard]] virtual Status finish(BatchSlot& slot) = 0;
  virtual void drop(BatchSlot& slot) = 0;
};

}  // namespace xtts::loader
