// BatchFiller: what is in which batch, and how it gets there: the order of the epoch, the rank's
// places in it, each place's clip, its rows (row_filler.hpp); or no copy at all, where the batch
// lies in the cache as one array (shuffle none, padded records, the dtype as stored).
//
// begin(), fill_part() and finish() as BatchWork says, from any number of threads; set_epoch() only
// while nobody works.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "loader/batch_layout.hpp"
#include "loader/batch_slot.hpp"
#include "loader/bucket_steps.hpp"
#include "loader/epoch_sequence.hpp"
#include "loader/row_filler.hpp"
#include "loader/selection.hpp"
#include "loader/steps.hpp"
#include "loader/window_reader.hpp"
#include "reader/cache_set.hpp"
#include "xtts/batch.hpp"

namespace xtts::loader {

struct BatchFillerOptions {
  EpochOrderOptions order;
  const SampleGroups* groups = nullptr;  // of weights; outlives the filler
  Steps steps;                           // without buckets
  std::uint32_t rank = 0;
  std::uint32_t crop_frames = 0;  // 0: whole clips
  bool verify_records = true;
  OnDamage on_damage = OnDamage::kRaise;
  std::uint32_t thread_count = 1;
  WindowReader* window_reader = nullptr;  // for Shuffle::kWindow; outlives the filler
};

struct DamageCounts {
  std::uint64_t damaged = 0;        // records that failed their check or could not be read
  std::vector<std::string> damage;  // the first few, in words
};

class BatchFiller final : public BatchWork {
 public:
  // All of them must outlive it.
  // `layouts`: one, or as many as there are buckets.
  BatchFiller(const reader::CacheSet& caches, const Selection& selection,
              std::span<const BatchLayout> layouts, const BatchFillerOptions& options);

  // Only while nobody works.
  void set_order(const EpochOrderOptions& order, const Steps& steps);
  // Of the sequence() as it is now. Only while nobody works.
  void set_bucket_steps(std::shared_ptr<const BucketSteps> steps) noexcept {
    bucket_steps_ = std::move(steps);
  }
  [[nodiscard]] const EpochSequence& sequence() const noexcept { return sequence_; }

  [[nodiscard]] Status begin(BatchSlot& slot, std::uint64_t step) override;
  [[nodiscard]] Status fill_part(BatchSlot& slot, std::uint32_t part,
                                 std::uint32_t thread) override;
  [[nodiscard]] Status finish(BatchSlot& slot) override;

  [[nodiscard]] DamageCounts damage() const;

 private:
  void choose_clips(BatchSlot& slot, std::uint64_t step) const;
  [[nodiscard]] Status read_plan(BatchSlot& slot);
  [[nodiscard]] std::uint32_t first_frame_of_crop(std::uint64_t place, std::uint32_t frames) const;
  [[nodiscard]] std::uint64_t work_bytes(const BatchSlot& slot) const;
  void place_in_cache(BatchSlot& slot);
  void locate_records(BatchSlot& slot);
  [[nodiscard]] Status fill_row(BatchSlot& slot, std::uint32_t row, FillScratch& scratch);
  [[nodiscard]] Status note_damage(BatchSlot& slot, std::uint32_t row, Status failure);
  [[nodiscard]] Status fill_again(BatchSlot& slot);
  [[nodiscard]] std::uint64_t true_bytes(const BatchSlot& slot) const;

  const reader::CacheSet& caches_;
  const Selection& selection_;
  std::span<const BatchLayout> layouts_;
  BatchFillerOptions options_;
  EpochSequence sequence_;
  std::shared_ptr<const BucketSteps> bucket_steps_;  // null without buckets
  RowFiller rows_;
  std::vector<FillScratch> scratch_;  // by thread; the last is the consumer's
  // Whether the last part that was read had to wait for the disk: then batches are announced to it
  // as soon as they are known.
  std::atomic<bool> disk_is_read_ = true;

  mutable std::mutex mutex_;  // guards `counts_`
  DamageCounts counts_;
};

}  // namespace xtts::loader
