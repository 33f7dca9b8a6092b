// Losses: the damage that a loader has met and the clips that it has left out, over all epochs and
// in this one. An epoch may lose so much and no more.
//
// One thread at a time. But any thread may call positions() and add_to().
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "loader/record_source.hpp"
#include "xtts/batch.hpp"

namespace xtts::loader {

class Losses {
 public:
  // `source` must outlive it. `max_damage`: the share of an epoch's samples that it may lose;
  // unset: any.
  Losses(const RecordSource& source, std::optional<double> max_damage)
      : source_(source), max_damage_(max_damage) {}

  // `sample_count`: of this rank.
  void begin_epoch(std::uint64_t epoch, std::uint64_t sample_count);
  void note_damage(const std::string& text);
  // Clips that were known to have no record before an epoch began. They count once.
  void note_known_rejects(std::span<const std::uint64_t> positions);
  // Counts what a batch has left out. kCorrupt: the epoch has lost more than it may. Else as
  // RecordSource::check_rejects().
  [[nodiscard]] Status count(const BatchSlot& slot);
  // Why this epoch may not go on.
  [[nodiscard]] const Status& failure() const noexcept { return failure_; }
  // This epoch's losses in words. Empty: none since the last call.
  [[nodiscard]] std::string report();

  // The clips that were left out so far, each once, in the order in which they were met.
  [[nodiscard]] std::vector<std::uint64_t> positions() const;
  // Sets the fields of damage and losses.
  void add_to(ReaderStats& stats) const;

 private:
  [[nodiscard]] std::string epoch_in_words() const;

  const RecordSource& source_;
  const std::optional<double> max_damage_;
  std::uint64_t epoch_ = 0;
  std::uint64_t epoch_sample_count_ = 0;
  std::string first_text_;  // of this epoch
  Status failure_;

  mutable std::mutex mutex_;  // guards what stands below
  std::uint64_t damage_count_ = 0;
  std::vector<std::string> first_damage_;
  std::uint64_t left_out_count_ = 0;
  std::uint64_t epoch_left_out_count_ = 0;
  std::vector<std::uint64_t> positions_;
  std::unordered_set<std::uint64_t> is_left_out_;
};

}  // namespace xtts::loader
