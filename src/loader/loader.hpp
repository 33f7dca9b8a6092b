// Loader keeps the promises of include/xtts/batch.hpp, on any RecordSource. It puts the selection,
// the epoch's order, the filler and the ring together.
//
// One thread at a time. But any thread may call stats(), left_out() and interrupt() beside it.
// Failures: as Reader's.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "loader/batch_filler.hpp"
#include "loader/batch_layout.hpp"
#include "loader/epoch_plan.hpp"
#include "loader/interval_stats.hpp"
#include "loader/record_source.hpp"
#include "loader/ring.hpp"
#include "loader/selection.hpp"
#include "loader/stats_file.hpp"
#include "xtts/batch.hpp"

namespace xtts::loader {

class Loader {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Loader>> open(std::shared_ptr<RecordSource> source,
                                                            const ReaderOptions& options);

  [[nodiscard]] const std::shared_ptr<RecordSource>& source() const noexcept { return source_; }
  [[nodiscard]] const device::Device& device() const noexcept { return *device_; }
  [[nodiscard]] std::uint64_t sample_count() const noexcept { return selection_.size(); }
  [[nodiscard]] std::uint64_t samples_per_epoch() const noexcept {
    return plan_options_.order.sample_count;
  }
  [[nodiscard]] std::uint64_t batches_per_epoch() const noexcept;
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

  void set_epoch(std::uint64_t epoch);
  [[nodiscard]] Result<std::optional<Lease>> next(
      std::optional<Ring::Clock::time_point> until = {});
  void interrupt() { ring_->interrupt(); }
  [[nodiscard]] ReaderState state() const;
  [[nodiscard]] Status load_state(const ReaderState& state);
  [[nodiscard]] ReaderStats stats() const;
  // Positions of the clips that were left out so far, each once. They include clips that were known
  // to have no record when an epoch began.
  [[nodiscard]] std::vector<std::uint64_t> left_out() const;

  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

 private:
  explicit Loader(std::shared_ptr<RecordSource> source) : source_(std::move(source)) {}
  [[nodiscard]] const reader::ClipSet& clips() const noexcept { return source_->clips(); }
  [[nodiscard]] Status lay_out(const ReaderOptions& options);
  [[nodiscard]] Status choose_clips(const ReaderOptions& options);
  [[nodiscard]] Status sort_into_buckets(const ReaderOptions& options);
  [[nodiscard]] Result<std::vector<std::unique_ptr<device::SlotMemory>>> make_slots(
      std::uint32_t slot_count) const;
  [[nodiscard]] Status start(const ReaderOptions& options);
  [[nodiscard]] Status weigh(const Weights& weights);
  void go_to(std::uint64_t epoch, Consumed consumed);
  [[nodiscard]] Status begin_epoch(std::uint64_t epoch, const Consumed& consumed);
  void go_on_to_next_epoch();
  [[nodiscard]] bool may_go_on_to_next_epoch() const;
  void report_damage(const FoundDamage& found);
  void note_damage(const std::string& text);
  void note_known_rejects(const std::vector<std::uint64_t>& positions);
  void log(LogLevel level, const std::string& text) noexcept;
  void log_what_was_opened();
  void log_left_out();
  void forget_last_interval();
  void note_batch(const BatchSlot& slot);
  [[nodiscard]] std::string notice() const;
  [[nodiscard]] std::uint64_t epoch_sample_count() const noexcept;
  [[nodiscard]] Status count_left_out(const BatchSlot& slot);
  void forget_left_out();
  [[nodiscard]] std::string selection_digest() const;
  [[nodiscard]] std::shared_ptr<const EpochPlan> plan(std::uint64_t epoch, const Consumed& consumed,
                                                      std::uint64_t first_step) const;

  std::shared_ptr<RecordSource> source_;
  Selection selection_;
  std::vector<BatchLayout> layouts_;  // one, or one for each bucket
  std::vector<std::uint8_t> bucket_of_sample_;
  std::string buckets_text_;            // the buckets in words, for the state
  std::optional<SampleGroups> groups_;  // for weights
  std::string weights_text_;            // the weights in words, for the state
  EpochPlanOptions plan_options_;
  std::shared_ptr<device::Device> device_;
  std::unique_ptr<RecordFeed> feed_;
  std::unique_ptr<BatchFiller> filler_;
  std::unique_ptr<Ring> ring_;  // destroyed first: its threads use everything above

  std::uint64_t epoch_ = 0;
  std::shared_ptr<const EpochPlan> this_epoch_;  // the plan of epoch_
  std::shared_ptr<const EpochPlan> next_epoch_;  // null until it is begun ahead
  std::vector<std::uint64_t> rejected_;          // known when these were planned
  bool skips_damage_ = false;
  double max_damage_ = 1;
  std::string first_left_out_;  // of this epoch, in words
  Status too_much_damage_;      // the epoch has lost more than max_damage_
  ReaderLog log_;
  std::string idle_options_;       // in words
  bool no_batch_ = false;          // an epoch holds no batch
  Status failure_;                 // why epoch_ could not begin; then this_epoch_ is another's
  Consumed wanted_consumed_;       // where epoch_ should have begun then
  std::uint64_t steps_taken_ = 0;  // of this_epoch_

  const std::unique_ptr<StatsFile> stats_file_ = StatsFile::open_if_asked();
  mutable std::mutex stats_mutex_;  // guards what stands below, which stats() reads in any thread
  IntervalStats intervals_;
  std::uint64_t batch_count_ = 0;  // batches that were handed out, over all epochs
  std::uint64_t sample_count_taken_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t batches_in_place_ = 0;
  std::uint64_t cache_hits_ = 0;
  std::uint64_t damage_count_ = 0;
  std::vector<std::string> first_damage_;
  std::uint64_t left_out_count_ = 0;
  std::uint64_t saturated_count_ = 0;
  std::uint64_t epoch_left_out_count_ = 0;
  std::vector<std::uint64_t> left_out_;  // in the order in which they were met
  std::unordered_set<std::uint64_t> is_left_out_;
};

}  // namespace xtts::loader
