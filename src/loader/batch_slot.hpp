// BatchSlot: one batch, from its order to its consumer. Belongs to the ring; whoever the ring hands
// it to may use it: fillers their parts of it, then the consumer, who only reads.
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

// Where the rows' records of a column lie. Without a block: it could not be found, and whoever
// fills the row finds out why.
using Places = std::vector<reader::RecordPlace>;

// A clip whose records are not what was written, or cannot be read; or that has none.
struct FoundDamage {
  std::uint64_t position = 0;
  std::string text;
  bool is_reject = false;  // it has none, and nothing is damaged
};

// By row: who asks the staging memory for the record (record_staging.hpp).
using Tickets = std::vector<std::uint64_t>;
constexpr std::uint64_t kNoTicket = UINT64_MAX;

// What is in a batch.
struct BatchClips {
  std::uint64_t epoch = 0;
  std::uint32_t bucket = 0;
  const BatchLayout* layout = nullptr;
  std::vector<std::uint64_t> positions = {};  // by row, as the epoch has them
  std::vector<std::uint64_t> epoch_places = {};
};

struct BatchSlot {
  device::SlotMemory* memory = nullptr;  // the ring's; from the first part on
  // Comes to pass when the columns that are not in place may be read. The memory's; from finish().
  const device::Event* uploaded = nullptr;
  std::uint64_t step = 0;
  std::uint64_t epoch = 0;
  const BatchLayout* layout = nullptr;  // of this batch: that of its bucket; the loader's
  std::uint32_t bucket = 0;
  std::uint32_t part_count = 1;             // as begin() says
  std::vector<std::uint64_t> positions;     // of the rows that hold a clip, which come first
  std::vector<std::uint64_t> epoch_places;  // where the epoch has them, by row
  std::vector<std::uint32_t> first_frames;  // where their crops begin, by row; empty without crops
  std::vector<std::int32_t> speakers;       // by row; -1: unknown, or no clip
  std::vector<std::int32_t> languages;
  bool has_places = false;     // whether these two were looked up
  std::vector<Places> places;  // by column of the layout, then by row
  // By row: clips that were computed for the batch, until it is whole.
  std::vector<std::unique_ptr<SourceRecord>> computed;
  std::vector<Tickets> tickets;              // likewise; empty for columns that are not staged
  std::vector<ColumnInPlace> in_place;       // by column of the layout
  std::vector<std::uint8_t> is_damaged;      // by row; each written by the filler of the row
  std::uint64_t true_bytes = 0;              // of the valid rows
  std::atomic<std::uint32_t> rows_read = 0;  // not found in memory
  std::atomic<bool> must_copy =
      false;                         // a column in place holds a record that cannot be read there
  std::vector<FoundDamage> damage;   // each clip once
  std::uint64_t left_out_count = 0;  // rows that are not in the batch for that
  Status failure;                    // why there is no batch

  // Where the consumer finds a column of the layout, once it is uploaded.
  [[nodiscard]] const std::byte* column_data(std::size_t column) const {
    if (in_place[column].mapping != nullptr) return in_place[column].data;
    return memory->consumer_data() + layout->columns[column].offset_bytes;
  }
  // By row, at an offset that the layout has for the host.
  [[nodiscard]] std::span<const std::int32_t> ints_at(std::size_t offset_bytes) const {
    return {reinterpret_cast<const std::int32_t*>(memory->host().data() + offset_bytes),
            layout->batch_size};
  }
};

// What the ring's threads do with a slot, in this order: begin, the parts (at the same time),
// finish, which begins the upload. Batches are begun one at a time, in the order of their steps.
// begin() has no memory yet to write to; it says in part_count, at least 1, how many parts there
// are. A part that fails does not keep the others from running; the first failure is the slot's. A
// part whose memory cannot be had is dropped instead of filled.
class BatchWork {
 public:
  virtual ~BatchWork() = default;
  [[nodiscard]] virtual Status begin(BatchSlot& slot, std::uint64_t step) = 0;
  [[nodiscard]] virtual Status fill_part(BatchSlot& slot, std::uint32_t part) = 0;
  virtual void drop_part(BatchSlot& slot, std::uint32_t part) noexcept = 0;
  [[nodiscard]] virtual Status finish(BatchSlot& slot) = 0;
};

}  // namespace xtts::loader
