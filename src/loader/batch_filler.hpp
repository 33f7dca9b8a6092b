// BatchFiller: what is in which batch, and how it gets there: the order of the epoch, the rank's
// places in it, each place's clip, its rows (row_filler.hpp); or no copy at all, where the batch
// lies in the cache as one array (shuffle none, padded records, the dtype as stored) and the device
// reads the memory of the host.
//
// begin(), fill_part() and finish() as BatchWork says, from any number of threads; set_epoch() only
// while nobody works.
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
  bool reads_host_memory = true;  // the device: columns may be handed out where they lie
  OnDamage on_damage = OnDamage::kRaise;
};

// Whether a failure says that a record is not what was written, or cannot be read.
[[nodiscard]] bool is_damage(const Status& failure) noexcept;

class BatchFiller final : public BatchWork {
 public:
  // All of them must outlive it.
  // `layouts`: one, or as many as there are buckets.
  BatchFiller(const RecordSource& source, RecordFeed& feed, std::span<const BatchLayout> layouts,
              const BatchFillerOptions& options);

  // What the steps from now on are taken from: the epoch that is read, and the one that follows, or
  // null. Also while batches are made; a seed that changes, only while nobody works.
  void set_epochs(std::shared_ptr<const EpochPlan> now, std::shared_ptr<const EpochPlan> next);
  void set_seed(std::uint64_t seed) noexcept { options_.seed = seed; }
  // Nothing behind the last step of the epochs that are known.
  [[nodiscard]] std::optional<BatchClips> choose_clips(std::uint64_t step) const;

  [[nodiscard]] Status begin(BatchSlot& slot, std::uint64_t step) override;
  [[nodiscard]] Status fill_part(BatchSlot& slot, std::uint32_t part) override;
  void drop_part(BatchSlot& slot, std::uint32_t part) noexcept override;
  [[nodiscard]] Status finish(BatchSlot& slot) override;

 private:
  [[nodiscard]] std::shared_ptr<const EpochPlan> epoch_of(std::uint64_t step) const;
  [[nodiscard]] Status prepare(BatchSlot& slot);
  [[nodiscard]] Status read_plan(BatchSlot& slot);
  [[nodiscard]] RowOptions row_options(reader::Check check) const noexcept;
  void place_in_cache(BatchSlot& slot);
  [[nodiscard]] Status fill_row(BatchSlot& slot, std::uint32_t row);
  void note_what_was_read(BatchSlot& slot, std::uint32_t first_row, std::uint32_t end_row,
                          bool has_waited);
  [[nodiscard]] Status note_damage(BatchSlot& slot, std::uint32_t row, Status failure);
  [[nodiscard]] Status fill_again(BatchSlot& slot);
  [[nodiscard]] std::uint64_t true_bytes(const BatchSlot& slot) const;

  const reader::ClipSet& clips_;
  RecordFeed& feed_;
  std::span<const BatchLayout> layouts_;
  BatchFillerOptions options_;
  // Whether a part that was read since the last batch was begun had to wait for the disk.
  std::atomic<bool> disk_is_read_ = true;

  mutable std::mutex mutex_;  // guards what stands below
  std::shared_ptr<const EpochPlan> this_epoch_, next_epoch_;
};

}  // namespace xtts::loader
