// RecordSource: the table of clips that a loader stands on, and their records. There are two kinds:
// StoredSource (stored_source.hpp) has records in caches, and ComputedSource (computed_source.hpp)
// computes them now.
//
// RecordFeed: one loader's way to the records of its source. It fills rows. Where that helps, it
// finds the records of a batch before the batch is begun.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loader/batch_slot.hpp"
#include "loader/ring.hpp"
#include "loader/row_filler.hpp"
#include "reader/clip_set.hpp"
#include "xtts/batch.hpp"
#include "xtts/status.hpp"

namespace xtts::loader {

class EpochPlan;
class Selection;

// Returns the clips of a step. Nothing where the step is not known, or not yet.
using ChooseClips = std::function<std::optional<BatchClips>(std::uint64_t step)>;

// The way of the records in words, for ReaderStats.
struct FeedWords {
  std::string storage = {};
  std::string reading = {};
  std::string notice = {};
};

// One thread at a time calls take() and find_records(). begin_epoch() is called while nobody fills.
// Any thread may call all other functions.
class RecordFeed {
 public:
  virtual ~RecordFeed() = default;

  // The steps of this epoch come next, from its first one on.
  virtual void begin_epoch(const EpochPlan& plan) = 0;
  // True where steps of the next epoch may be taken before this one has ended.
  [[nodiscard]] virtual bool may_begin_next_epoch() const { return true; }
  // Releases threads that wait in here.
  virtual void stop() {}
  // Tells whether the thread that waits for a batch may fill parts of it, beside the fillers.
  [[nodiscard]] virtual Consumer consumer() const { return Consumer::kHelps; }

  // Returns the clips of a batch. Steps come in ascending order. Where one fails or throws, the
  // next is taken as if it had not been. `disk_is_read`: a filler had to wait for pages lately.
  // kInternal: there is no such step.
  [[nodiscard]] virtual Result<BatchClips> take(BatchRecords& records, std::uint64_t step,
                                                bool disk_is_read) = 0;
  // Finds the records of a batch unless take() gave them.
  virtual void find_records(const BatchClips& clips, BatchRecords& records) = 0;
  // Finds the records anew after some rows have gone and those behind them have moved up.
  virtual void find_again(const BatchClips& clips, BatchRecords& records) const = 0;
  // Releases what was prepared for rows [first, end) of a batch, used or not, also a second time.
  // Bytes that a device has borrowed stay until end_batch().
  virtual void release(const BatchRecords& records, std::uint32_t first_row,
                       std::uint32_t end_row) const = 0;

  // Finds a column of consecutive clips that lies in the cache as one array.
  [[nodiscard]] virtual ColumnInPlace find_array(const ColumnLayout& column,
                                                 std::uint64_t first_position,
                                                 std::uint32_t count) const = 0;
  // The number of parts in which a batch is filled, at least 1.
  [[nodiscard]] virtual std::uint32_t part_count(const BatchSlot& slot) const = 0;
  // Copies a clip's records into a row. Columns that lie in place are verified and not copied.
  [[nodiscard]] virtual Result<Saturated> copy_clip(BatchSlot& slot, std::uint32_t row,
                                                    const RowOptions& options) const = 0;
  // True where a row's records were in memory before it was filled, as far as is known without
  // waiting for their pages.
  [[nodiscard]] virtual bool lies_in_memory(const BatchRecords& records,
                                            std::uint32_t row) const = 0;
  // Called when no row is filled again: the batch is whole and its upload has begun, or it failed.
  // `memory` is null where the batch has none yet.
  virtual void end_batch(BatchRecords& records, const device::SlotMemory* memory) const = 0;

  [[nodiscard]] virtual FeedWords words() const = 0;
};

// The inputs of a feed. `selection` and `layouts` outlive the feed.
struct FeedJob {
  const Selection& selection;
  std::span<const BatchLayout> layouts;  // one, or one for each bucket
  const ReaderOptions& options;          // valid while the feed is opened
  const device::Device& device;          // valid while the feed is opened
  ChooseClips choose_clips;
};

class RecordSource {
 public:
  virtual ~RecordSource() = default;
  [[nodiscard]] virtual const reader::ClipSet& clips() const = 0;
  // Refuses options that this source cannot serve. Takes no time.
  [[nodiscard]] virtual Status check_options(const ReaderOptions& /*options*/) const { return {}; }
  // Finds out what the options choose clips by. Called before clips are chosen. May take hours.
  [[nodiscard]] virtual Status prepare(const ReaderOptions& /*options*/) { return {}; }
  // After prepare(): positions that the options choose but that have no record, ascending.
  [[nodiscard]] virtual std::vector<std::uint64_t> unusable_positions() const { return {}; }
  [[nodiscard]] virtual Result<std::unique_ptr<RecordFeed>> open_feed(FeedJob job) = 0;
  // The number of threads that thread_count 0 stands for.
  [[nodiscard]] virtual std::uint32_t default_thread_count() const = 0;

  // A sentence that tells what mends damaged records. Empty where nothing does.
  [[nodiscard]] virtual std::string remedy() const = 0;
  // Positions of clips that were found to have no record, ascending. Epochs that begin from now on
  // leave them out.
  [[nodiscard]] virtual std::vector<std::uint64_t> rejected() const { return {}; }
  // Fails where more clips are rejected than is allowed.
  [[nodiscard]] virtual Status check_rejects() const { return {}; }
  // The message for a state that was made with other clips.
  [[nodiscard]] virtual std::string state_mismatch_message(const std::string& digest) const = 0;
};

}  // namespace xtts::loader
