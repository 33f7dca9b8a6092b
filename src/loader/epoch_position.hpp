// EpochPosition: where a loader is. It has the chosen clips, the rules of their order, the plans of
// this epoch and of the next one, and the number of steps that were taken. It makes states of these
// (ReaderState), and goes to where a state was made.
//
// One thread at a time. But any thread may call samples_per_rank(). Failures of open(): those of
// Selection, assign_buckets() and group_samples().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loader/batch_layout.hpp"
#include "loader/epoch_plan.hpp"
#include "loader/record_source.hpp"
#include "loader/selection.hpp"
#include "xtts/batch.hpp"

namespace xtts::loader {

class EpochPosition {
 public:
  // `source` must outlive it, and was prepared. There is one layout, or one for each bucket.
  [[nodiscard]] static Result<std::unique_ptr<EpochPosition>> open(
      const RecordSource& source, std::span<const BatchLayout> layouts,
      const ReaderOptions& options);
  EpochPosition(const EpochPosition&) = delete;  // plans refer to its members
  EpochPosition& operator=(const EpochPosition&) = delete;

  [[nodiscard]] const Selection& selection() const noexcept { return selection_; }
  [[nodiscard]] std::uint64_t samples_per_epoch() const noexcept {
    return plan_options_.order.sample_count;
  }
  // One rank's share of an epoch. Weighted draws count as often as they are drawn.
  [[nodiscard]] std::uint64_t samples_per_rank() const noexcept {
    return samples_per_epoch() / plan_options_.world_size;
  }
  [[nodiscard]] std::uint64_t seed() const noexcept { return plan_options_.order.seed; }
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] const std::shared_ptr<const EpochPlan>& this_epoch() const { return this_epoch_; }
  [[nodiscard]] const std::shared_ptr<const EpochPlan>& next_epoch() const { return next_epoch_; }
  // The end of all steps that are planned.
  [[nodiscard]] std::uint64_t end_step() const noexcept {
    return (next_epoch_ ? next_epoch_ : this_epoch_)->end_step();
  }
  // Chosen clips that were known to have no record when this epoch was planned.
  [[nodiscard]] const std::vector<std::uint64_t>& rejected() const noexcept { return rejected_; }
  // Why this epoch could not begin. The plan is another epoch's then.
  [[nodiscard]] const Status& failure() const noexcept { return failure_; }

  [[nodiscard]] bool is_at_start() const noexcept {
    return failure_.ok() && steps_taken_ == 0 && this_epoch_->is_whole();
  }
  [[nodiscard]] bool is_at_end() const noexcept {
    return steps_taken_ == this_epoch_->step_count();
  }
  void take_step() noexcept { ++steps_taken_; }

  // These two choose an epoch. begin() plans it. set_failure() tells where it could not begin.
  void go_to(std::uint64_t epoch, Consumed consumed = {});
  // kUnsupported (another version of the order), kMismatch (a state of other clips, or of a reader
  // with another order). Nothing has changed then.
  [[nodiscard]] Status load(const ReaderState& state);
  // The failures are those of RecordSource::check_rejects().
  [[nodiscard]] Status begin(bool plans_next_epoch);
  void set_failure(Status failure) { failure_ = std::move(failure); }

  // False where the next epoch is not planned, this one has not ended, or clips were rejected since
  // it was planned.
  [[nodiscard]] bool may_enter_next_epoch() const;
  // Forgets the finished plan before it makes another, so that memory holds two and not three.
  void enter_next_epoch();

  [[nodiscard]] ReaderState state() const;

 private:
  explicit EpochPosition(const RecordSource& source) : source_(source) {}
  [[nodiscard]] Status choose(std::span<const BatchLayout> layouts, const ReaderOptions& options);
  [[nodiscard]] std::vector<std::uint64_t> chosen_rejects() const;
  [[nodiscard]] std::shared_ptr<const EpochPlan> plan(std::uint64_t epoch, const Consumed& consumed,
                                                      std::uint64_t first_step) const;

  const RecordSource& source_;
  Selection selection_;
  std::vector<std::uint8_t> bucket_of_sample_;
  std::optional<SampleGroups> groups_;  // for weights
  EpochPlanOptions plan_options_;
  std::string digest_;  // of the chosen clips and of the rules of their order

  std::uint64_t epoch_ = 0;
  Consumed consumed_;  // before this epoch began
  std::uint64_t steps_taken_ = 0;
  std::vector<std::uint64_t> rejected_;
  std::shared_ptr<const EpochPlan> this_epoch_;
  std::shared_ptr<const EpochPlan> next_epoch_;  // null where it is not planned
  Status failure_;
};

}  // namespace xtts::loader
