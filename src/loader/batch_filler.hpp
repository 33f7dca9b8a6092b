// BatchFiller chooses the clips of each batch and fills its rows (row_filler.hpp). It takes a
// step's places of this rank from the epoch's plan, and each place's clip from its sequence.
//
// It copies nothing where the batch lies in the cache as one array and the device reads the memory
// of the host. That needs shuffle none, padded records and the dtype as stored.
//
// Any number of threads may call begin(), fill_part() and finish(), as BatchWork says.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loader/batch_layout.hpp"
#include "loader/batch_slot.hpp"
#include "loader/epoch_plan.hpp"
#include "loader/record_source.hpp"
#include "loader/row_filler.hpp"
#include "reader/clip_set.hpp"
#include "xtts/batch.hpp"

namespace xtts::loader {

struct BatchFillerOptions {
  Shuffle shuffle = Shuffle::kNone;
  std::uint64_t seed = 0;
  std::uint32_t rank = 0;
  std::uint32_t crop_frames = 0;  // 0: whole clips
  bool verify_records = true;
  bool reads_host_memory = true;  // the device does: columns may be handed out where they lie
  OnDamage on_damage = OnDamage::kRaise;
  OnRange on_range = OnRange::kRaise;
};

// True where the failure says that a record is not what was written, or cannot be read.
[[nodiscard]] bool is_damage(const Status& failure) noexcept;

class BatchFiller final : public BatchWork {
 public:
  // `source`, `feed` and `layouts` must outlive it. There is one layout, or one for each bucket.
  BatchFiller(const RecordSource& source, RecordFeed& feed, std::span<const BatchLayout> layouts,
              const BatchFillerOptions& options);

  // Takes the steps from now on from these: the epoch that is read, and the one that follows it, or
  // null. May be called while batches are made.
  void set_epochs(std::shared_ptr<const EpochPlan> now, std::shared_ptr<const EpochPlan> next);
  // Only while nobody works.
  void set_seed(std::uint64_t seed) noexcept { options_.seed = seed; }
  // Returns nothing for a step behind the last one of the epochs that are known.
  [[nodiscard]] std::optional<BatchClips> choose_clips(std::uint64_t step) const;

  [[nodiscard]] Status begin(BatchSlot& slot, std::uint64_t step) override;
  [[nodiscard]] Status fill_part(BatchSlot& slot, std::uint32_t part) override;
  void drop_part(BatchSlot& slot, std::uint32_t part) noexcept override;
  [[nodiscard]] Status finish(BatchSlot& slot) override;
  void drop(BatchSlot& slot) override;

 private:
  [[nodiscard]] std::shared_ptr<const EpochPlan> epoch_of(std::uint64_t step) const;
  [[nodiscard]] Status prepare(BatchSlot& slot);
  [[nodiscard]] Status read_index_rows(const BatchClips& clips, IndexedRows& rows,
                                       FoundInRows& found);
  [[nodiscard]] RowOptions row_options(reader::Check check) const noexcept;
  [[nodiscard]] std::vector<ColumnInPlace> find_columns_in_place(const BatchClips& clips) const;
  [[nodiscard]] Status fill_row_or_skip(BatchSlot& slot, std::uint32_t row);
  [[nodiscard]] std::uint32_t count_rows_read(const BatchSlot& slot, std::uint32_t first_row,
                                              std::uint32_t end_row, bool has_waited);
  [[nodiscard]] Status note_damage(const BatchClips& clips, std::uint32_t row, Status failure,
                                   FoundInRows& found);
  [[nodiscard]] Status check_range(const BatchClips& clips, std::uint32_t row,
                                   const Saturated& saturated) const;
  [[nodiscard]] Status fill_again(BatchSlot& slot);
  [[nodiscard]] std::uint64_t true_bytes(const BatchSlot& slot) const;

  const reader::ClipSet& clips_;
  RecordFeed& feed_;
  std::span<const BatchLayout> layouts_;
  BatchFillerOptions options_;
  // A part that was filled since the last batch was begun had to wait for the disk.
  std::atomic<bool> disk_is_read_ = true;

  mutable std::mutex mutex_;  // guards what stands below
  std::shared_ptr<const EpochPlan> this_epoch_, next_epoch_;
};

}  // namespace xtts::loader
