// EpochPlan: one epoch of a reader. It has the epoch's sequence of clips and the steps that are cut
// from it, with buckets or without. The numbers of steps go on from one epoch to the next: this one
// begins at first_step(). Immutable, share freely. What it is made from must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "loader/bucket_steps.hpp"
#include "loader/epoch_sequence.hpp"
#include "loader/selection.hpp"
#include "loader/steps.hpp"

namespace xtts::loader {

// Consumed: the part of the epoch that an earlier run has taken.
struct Consumed {
  std::uint64_t place_count = 0;         // without buckets: all places before this one
  std::vector<std::uint64_t> by_bucket;  // empty without buckets, or where nothing is consumed

  [[nodiscard]] std::uint64_t sample_count() const noexcept;
  [[nodiscard]] bool is_nothing() const noexcept;
};

// Options that are the same in every epoch.
struct EpochPlanOptions {
  EpochOrderOptions order;               // except its `epoch`
  const SampleGroups* groups = nullptr;  // for weights; null without
  std::uint32_t world_size = 1;
  LastBatch last = LastBatch::kDrop;
  std::vector<std::uint32_t> batch_sizes;          // of one rank; by bucket, if there are buckets
  std::span<const std::uint8_t> bucket_of_sample;  // empty without buckets
  bool has_buckets = false;
};

class EpochPlan {
 public:
  // `rejected`: positions that are known to have no record, ascending. With a single rank, the
  // clips behind them move up, and there are fewer steps. With several ranks, each rank knows of
  // its own rejected clips only. So all ranks keep their number of steps, nothing moves, and a step
  // is shorter by its rejected clips. With buckets they are ignored: all clips are known there.
  EpochPlan(const Selection& selection, const EpochPlanOptions& options, std::uint64_t epoch,
            const Consumed& consumed, std::uint64_t first_step,
            std::span<const std::uint64_t> rejected = {});

  [[nodiscard]] const EpochSequence& sequence() const noexcept { return sequence_; }
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] std::uint64_t first_step() const noexcept { return first_step_; }
  [[nodiscard]] std::uint64_t step_count() const noexcept;
  [[nodiscard]] std::uint64_t end_step() const noexcept { return first_step_ + step_count(); }
  // True where nothing had been consumed when the plan was made.
  [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }
  // The steps of the whole epoch, whatever was consumed of it.
  [[nodiscard]] std::uint64_t whole_step_count() const noexcept;
  // The lowest place that is still to come.
  [[nodiscard]] std::uint64_t first_place() const noexcept;

  // `step` is at least first_step() and below end_step().
  [[nodiscard]] std::uint8_t bucket_of(std::uint64_t step) const noexcept;
  void find_places(std::uint64_t step, std::uint32_t rank,
                   std::vector<std::uint64_t>& places) const;
  // The clips consumed once all ranks have taken so many steps of this plan.
  [[nodiscard]] Consumed consumed_after(std::uint64_t step_count) const;

 private:
  void find_kept(std::uint64_t step, std::vector<std::uint64_t>& places) const;
  void pass_over(std::span<const std::uint64_t> rejected);
  [[nodiscard]] bool is_rejected(std::uint64_t place,
                                 std::span<const std::uint64_t> rejected) const noexcept;
  [[nodiscard]] std::uint64_t steps_of(std::uint64_t first_place,
                                       std::uint64_t passed_over) const noexcept;
  [[nodiscard]] std::uint64_t place_of_kept(std::uint64_t kept) const noexcept;

  EpochSequence sequence_;
  std::uint64_t epoch_ = 0;
  std::uint64_t first_step_ = 0;
  bool is_whole_ = true;
  Steps steps_;  // without buckets
  // For a single rank without buckets: the places that hold a rejected clip, counted from the first
  // place that is not consumed.
  std::vector<std::uint64_t> passed_over_;
  std::uint64_t rejected_count_ = 0;     // in the whole epoch; for a single rank without buckets
  std::vector<std::uint64_t> rejected_;  // positions; for several ranks without buckets
  std::optional<BucketSteps> buckets_;   // with buckets
};

}  // namespace xtts::loader
