// ComputedFeed: the thread that fills a row computes its clip. A part of a batch is one row.
//
// A rejected clip fails its row with kBadInput. The records of a batch are kept until it is whole:
// when a clip is rejected, the rows behind it move up and are not computed again.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "loader/record_source.hpp"
#include "xtts/clip_source.hpp"

namespace xtts::loader {

class ComputedFeed final : public RecordFeed {
 public:
  ComputedFeed(std::shared_ptr<const ClipSource> source, ChooseClips choose_clips)
      : source_(std::move(source)), choose_clips_(std::move(choose_clips)) {}

  void begin_epoch(const EpochPlan& /*plan*/) override {}
  // The source shares out memory for the filling threads only. And a clip may take long.
  [[nodiscard]] Consumer consumer() const override { return Consumer::kWaits; }
  [[nodiscard]] Result<BatchClips> take(BatchRecords& records, std::uint64_t step,
                                        bool disk_is_read) override;
  void find_records(const BatchClips& /*clips*/, BatchRecords& /*records*/) override {}
  void find_again(const BatchClips& clips, BatchRecords& records) const override;
  void release(const BatchRecords& /*records*/, std::uint32_t /*first_row*/,
               std::uint32_t /*end_row*/) const override {}
  [[nodiscard]] ColumnInPlace find_array(const ColumnLayout& /*column*/,
                                         std::uint64_t /*first_position*/,
                                         std::uint32_t /*count*/) const override {
    return {};
  }
  [[nodiscard]] std::uint32_t part_count(const BatchSlot& slot) const override;
  [[nodiscard]] Result<Saturated> copy_clip(BatchSlot& slot, std::uint32_t row,
                                            const RowOptions& options) const override;
  [[nodiscard]] bool lies_in_memory(const BatchRecords& /*records*/,
                                    std::uint32_t /*row*/) const override {
    return false;
  }
  void end_batch(BatchRecords& records, const device::SlotMemory* memory) const override;
  [[nodiscard]] FeedWords words() const override;

 private:
  using Memory = std::unique_ptr<SourceRecord>;
  [[nodiscard]] Memory take_memory() const;

  std::shared_ptr<const ClipSource> source_;
  ChooseClips choose_clips_;
  mutable std::mutex mutex_;  // guards what stands below
  mutable std::vector<Memory> free_;
};

}  // namespace xtts::loader
