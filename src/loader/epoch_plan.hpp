// EpochPlan: one epoch of a reader: its sequence of clips, and the steps that are cut from it, with
// buckets or without. Steps are numbered on from one epoch to the next, from first_step() on.
// Immutable, share freely; what it is made from must outlive it.
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

// What an earlier run has taken of the epoch.
struct Consumed {
  std::uint64_t place_count = 0;         // without buckets: all places before this one
  std::vector<std::uint64_t> by_bucket;  // empty without buckets, or where nothing is consumed

  [[nodiscard]] std::uint64_t sample_count() const noexcept;
  [[nodiscard]] bool is_nothing() const noexcept;
};

// What is the same in every epoch.
struct EpochPlanOptions {
  EpochOrderOptions order;               // `epoch` apart
  const SampleGroups* groups = nullptr;  // of weights
  std::uint32_t world_size = 1;
  LastBatch last = LastBatch::kDrop;
  std::vector<std::uint32_t> batch_sizes;          // of one rank; by bucket, where there are any
  std::span<const std::uint8_t> bucket_of_sample;  // empty without buckets
  bool has_buckets = false;
};

class EpochPlan {
 public:
  // `rejected`: positions that are known to have no record, ascending. What a single rank has of
  // the epoch moves up in their place, and it has fewer steps. Of several, each knows of its own
  // clips alone, so that all keep their steps and nothing moves: a step has fewer clips by its own.
  // Not with buckets, whose clips are all known.
  EpochPlan(const Selection& selection, const EpochPlanOptions& options, std::uint64_t epoch,
            const Consumed& consumed, std::uint64_t first_step,
            std::span<const std::uint64_t> rejected = {});

  [[nodiscard]] const EpochSequence& sequence() const noexcept { return sequence_; }
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] std::uint64_t first_step() const noexcept { return first_step_; }
  [[nodiscard]] std::uint64_t step_count() const noexcept;
  [[nodiscard]] std::uint64_t end_step() const noexcept { return first_step_ + step_count(); }
  // Nothing had been consumed before.
  [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }
  // Had nothing been consumed before.
  [[nodiscard]] std::uint64_t whole_step_count() const noexcept;
  // The lowest place that is still to come.
  [[nodiscard]] std::uint64_t first_place() const noexcept;

  // Of a step from first_step() to end_step().
  [[nodiscard]] std::uint8_t bucket_of(std::uint64_t step) const noexcept;
  void find_places(std::uint64_t step, std::uint32_t rank,
                   std::vector<std::uint64_t>& places) const;
  // Where all ranks have taken so many steps of this plan.
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
  // Of a single rank without buckets: which of the places that are left, counted from the first of
  // them, hold a rejected clip.
  std::vector<std::uint64_t> passed_over_;
  std::uint64_t rejected_count_ = 0;     // of the whole epoch
  std::vector<std::uint64_t> rejected_;  // of several ranks without buckets: positions
  std::optional<BucketSteps> buckets_;   // with them
};

}  // namespace xtts::loader
