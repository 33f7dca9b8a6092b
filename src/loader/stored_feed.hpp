// StoredFeed: one loader's way to the records of caches. They come from mapped files, through
// staging memory past the page cache, or in windows. README.md says when.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "loader/read_ahead.hpp"
#include "loader/reading_choice.hpp"
#include "loader/record_source.hpp"
#include "loader/record_staging.hpp"
#include "loader/window_reader.hpp"
#include "reader/cache_set.hpp"

namespace xtts::loader {

class StoredFeed final : public RecordFeed {
 public:
  StoredFeed(const reader::CacheSet& caches, FeedJob job);
  ~StoredFeed() override;
  StoredFeed(const StoredFeed&) = delete;
  StoredFeed& operator=(const StoredFeed&) = delete;

  void begin_epoch(const EpochPlan& plan) override;
  [[nodiscard]] bool may_begin_next_epoch() const override { return window_reader_ == nullptr; }
  void stop() override;

  [[nodiscard]] Result<BatchClips> take(BatchRecords& records, std::uint64_t step,
                                        bool disk_is_read) override;
  void find_records(const BatchClips& clips, BatchRecords& records) override;
  void find_again(const BatchClips& clips, BatchRecords& records) const override;
  void release(const BatchRecords& records, std::uint32_t first_row,
               std::uint32_t end_row) const override;

  [[nodiscard]] ColumnInPlace find_array(const ColumnLayout& column, std::uint64_t first_position,
                                         std::uint32_t count) const override;
  [[nodiscard]] std::uint32_t part_count(const BatchSlot& slot) const override;
  [[nodiscard]] Result<Saturated> copy_clip(BatchSlot& slot, std::uint32_t row,
                                            const RowOptions& options) const override;
  [[nodiscard]] bool lies_in_memory(const BatchRecords& records, std::uint32_t row) const override;
  void end_batch(BatchRecords& records, const device::SlotMemory* memory) const override;
  [[nodiscard]] FeedWords words() const override;

 private:
  void choose_reading(const FeedJob& job);
  [[nodiscard]] Status open_staging(const FeedJob& job);
  [[nodiscard]] Status try_direct_reads(const BatchLayout& layout) const;
  [[nodiscard]] std::uint64_t work_bytes(const BatchSlot& slot) const;
  [[nodiscard]] std::string words_of_staging() const;

  const reader::CacheSet& caches_;
  const bool verifies_records_;
  std::string storage_text_;
  ReadingChoice reading_;
  std::unique_ptr<WindowReader> window_reader_;  // for Shuffle::kWindow
  std::unique_ptr<RecordStaging> staging_;       // for Reading::kDirect
  std::unique_ptr<ReadAhead> ahead_;
};

}  // namespace xtts::loader
