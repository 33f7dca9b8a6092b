// Loader keeps the promises of include/xtts/batch.hpp, on any RecordSource. It puts the position in
// the epochs, the filler, the ring, and the counts of batches and losses together.
//
// One thread at a time. But any thread may call stats(), left_out() and interrupt() beside it.
// Failures: as Reader's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loader/batch_counters.hpp"
#include "loader/batch_filler.hpp"
#include "loader/batch_layout.hpp"
#include "loader/epoch_position.hpp"
#include "loader/losses.hpp"
#include "loader/record_source.hpp"
#include "loader/ring.hpp"
#include "xtts/batch.hpp"

namespace xtts::loader {

class Loader {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Loader>> open(std::shared_ptr<RecordSource> source,
                                                            const ReaderOptions& options);

  [[nodiscard]] const std::shared_ptr<RecordSource>& source() const noexcept { return source_; }
  [[nodiscard]] const device::Device& device() const noexcept { return *device_; }
  [[nodiscard]] std::uint64_t sample_count() const noexcept {
    return position_->selection().size();
  }
  [[nodiscard]] std::uint64_t samples_per_epoch() const noexcept {
    return position_->samples_per_epoch();
  }
  [[nodiscard]] std::uint64_t batches_per_epoch() const noexcept {
    return position_->this_epoch()->whole_step_count();
  }
  [[nodiscard]] std::uint64_t epoch() const noexcept { return position_->epoch(); }

  void set_epoch(std::uint64_t epoch);
  [[nodiscard]] Result<std::optional<Lease>> next(
      std::optional<Ring::Clock::time_point> until = {});
  void interrupt() { ring_->interrupt(); }
  [[nodiscard]] ReaderState state() const { return position_->state(); }
  [[nodiscard]] Status load_state(const ReaderState& state);
  [[nodiscard]] ReaderStats stats() const;
  // Positions of the clips that were left out so far, each once. They include clips that were known
  // to have no record when an epoch began.
  [[nodiscard]] std::vector<std::uint64_t> left_out() const { return losses_.positions(); }

  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

 private:
  Loader(std::shared_ptr<RecordSource> source, const ReaderOptions& options);
  [[nodiscard]] Status lay_out(const ReaderOptions& options);
  [[nodiscard]] Status start(const ReaderOptions& options);
  [[nodiscard]] Result<std::vector<std::unique_ptr<device::SlotMemory>>> make_slots(
      std::uint32_t slot_count) const;
  [[nodiscard]] Status begin_epoch();
  void restart();
  void go_on_to_next_epoch();
  void report_damage(const FoundDamage& found);
  void note_damage(const std::string& text);
  void log(LogLevel level, const std::string& text) noexcept;
  void log_what_was_opened();
  void log_left_out();
  [[nodiscard]] std::string notice() const;

  std::shared_ptr<RecordSource> source_;
  std::vector<BatchLayout> layouts_;  // one, or one for each bucket
  std::unique_ptr<EpochPosition> position_;
  Losses losses_;
  BatchCounters counters_;
  ReaderLog log_;
  std::string opening_notice_;  // notice() begins with it
  std::shared_ptr<device::Device> device_;
  std::unique_ptr<RecordFeed> feed_;
  std::unique_ptr<BatchFiller> filler_;
  std::unique_ptr<Ring> ring_;  // destroyed first: its threads use everything above
};

}  // namespace xtts::loader
