// RecordSource: what a loader stands on: a table of clips, and their records. Two kinds: stored
// records in the mapped blocks of caches (stored_feed.hpp), and records that are computed now
// (computed_source.hpp).
//
// RecordFeed: one loader's way to the records of its source. It finds the records of a batch before
// the batch is begun, where that helps, and fills rows.
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

// Which clips a step has. Nothing where the step is not known, or not yet.
using ChooseClips = std::function<std::optional<BatchClips>(std::uint64_t step)>;

// How the records come, in words, for ReaderStats.
struct FeedWords {
  std::string storage = {};
  std::string reading = {};
  std::string notice = {};
};

// take() and find_records(): one thread at a time. begin_epoch(): while nobody fills. All else: any
// thread.
class RecordFeed {
 public:
  virtual ~RecordFeed() = default;

  // The steps of this epoch come next, from its first one on.
  virtual void begin_epoch(const EpochPlan& plan) = 0;
  // Whether the steps of the epoch after it may be taken before this one is at its end.
  [[nodiscard]] virtual bool may_begin_next_epoch() const { return true; }
  // Lets go of threads that wait in here.
  virtual void stop() {}
  // Whether the thread that waits for a batch may fill parts of it, beside those that fill.
  [[nodiscard]] virtual Consumer consumer() const { return Consumer::kLendsAHand; }

  // The clips of a batch. Steps in ascending order; where one fails or throws, the next is taken as
  // if it had not been. `disk_is_read`: pages had to be waited for lately. kInternal: there is no
  // such step.
  [[nodiscard]] virtual Status take(BatchSlot& slot, std::uint64_t step, bool disk_is_read) = 0;
  // The records of a batch, where take() has left that open.
  virtual void find_records(BatchSlot& slot) = 0;
  // Some rows have gone, and those behind them have moved up.
  virtual void find_again(BatchSlot& slot) const = 0;
  // Lets go of what was prepared for rows [first, end) of a batch, used or not.
  virtual void release(const BatchSlot& slot, std::uint32_t first_row,
                       std::uint32_t end_row) const = 0;

  // A column of consecutive clips where it lies, as one array.
  [[nodiscard]] virtual ColumnInPlace find_array(const ColumnLayout& column,
                                                 std::uint64_t first_position,
                                                 std::uint32_t count) const = 0;
  // Into how many parts the filling of a batch is cut, at least 1.
  [[nodiscard]] virtual std::uint32_t part_count(const BatchSlot& slot) const = 0;
  // A clip's records. Columns that lie in place are verified and not copied.
  [[nodiscard]] virtual Status fill_row(BatchSlot& slot, std::uint32_t row,
                                        const RowOptions& options) const = 0;
  // Whether a row's records were in memory before it was filled, as far as is known before anybody
  // waits for a page of theirs.
  [[nodiscard]] virtual bool lies_in_memory(const BatchSlot& slot, std::uint32_t row) const = 0;
  // The batch is whole: no row is filled again.
  virtual void end_batch(BatchSlot& slot) const = 0;

  [[nodiscard]] virtual FeedWords words() const = 0;
};

// What a feed is made for. All that it names outlives the feed.
struct FeedJob {
  const Selection& selection;
  std::span<const BatchLayout> layouts;  // one, or as many as there are buckets
  const ReaderOptions& options;          // while it is opened
  ChooseClips choose_clips;
};

class RecordSource {
 public:
  virtual ~RecordSource() = default;
  [[nodiscard]] virtual const reader::ClipSet& clips() const = 0;
  // May they be? Takes no time.
  [[nodiscard]] virtual Status check_options(const ReaderOptions& /*options*/) const { return {}; }
  // Before clips are chosen: is known what they are chosen by? May take hours.
  [[nodiscard]] virtual Status prepare(const ReaderOptions& /*options*/) { return {}; }
  // Positions that these options would choose and no reader can: ascending. After prepare().
  [[nodiscard]] virtual std::vector<std::uint64_t> never_chosen() const { return {}; }
  [[nodiscard]] virtual Result<std::unique_ptr<RecordFeed>> open_feed(FeedJob job) = 0;
  // What thread_count 0 means.
  [[nodiscard]] virtual std::uint32_t default_thread_count() const = 0;

  // What mends records that are not what was written: a sentence. Empty: nothing does.
  [[nodiscard]] virtual std::string remedy() const = 0;
  // Clips that were found to have no record: ascending. The epochs that begin from now on go
  // without them.
  [[nodiscard]] virtual std::vector<std::uint64_t> rejected() const { return {}; }
  // A failure where there are more of them than is allowed.
  [[nodiscard]] virtual Status check_rejects() const { return {}; }
  // Of a state that was made with other clips.
  [[nodiscard]] virtual std::string another_state(const std::string& digest) const = 0;
};

}  // namespace xtts::loader
