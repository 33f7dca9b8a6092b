// ReadAhead finds the records of the next batches some batches before these are begun, so that the
// disk works on many records at once. It announces records to the kernel, which reads them into the
// page cache, or reads them into staging memory (record_staging.hpp). No record can be found
// without the header of its block, so headers are asked for some batches earlier still.
//
// Where everything lies in memory, ReadAhead does none of this. It finds records when their batch
// is begun, and looks at a few pages of each batch to see whether they are still there.
//
// One thread at a time. But any thread may call const functions at any time. A record that cannot
// be found gets a place without a block; the filler of its row finds out why.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "loader/batch_layout.hpp"
#include "loader/batch_slot.hpp"
#include "loader/record_source.hpp"
#include "loader/record_staging.hpp"
#include "reader/cache_set.hpp"

namespace xtts::loader {

// Smaller records always go through the page cache. A whole column of them fits into it, and a read
// brings a record's neighbours along.
constexpr std::uint64_t kStagedRecordBytesMin = std::uint64_t{16} << 10U;
// How much is announced to the page cache ahead of the batches. A disk works on all of it at once.
// With 56 MiB (7 batches of 32), seven batches came at the same moment and then none. With 8 MiB
// they came one by one, at the same speed (variation 0.3 and not 1.2).
constexpr std::uint64_t kAnnouncedBytes = std::uint64_t{16} << 20U;

// True where the column's records are staged.
[[nodiscard]] bool is_stageable(const ColumnLayout& column);

struct ReadAheadOptions {
  RecordStaging* staging = nullptr;  // must outlive it; null: through the page cache
  bool looks_ahead = true;           // false where WindowReader reads ahead
  bool reads_padding = true;         // true where checks cover a record's padding
};

class ReadAhead {
 public:
  // `caches`, and the layouts that `choose_clips` returns, must outlive it.
  ReadAhead(const reader::CacheSet& caches, const ReadAheadOptions& options,
            ChooseClips choose_clips);

  // Forgets what it knows. Only while nobody fills.
  void restart();

  // Returns the clips of a batch, and gives `records` if these were looked up ahead. Steps come in
  // ascending order. Where one fails or throws, the next is taken as if it had not been.
  // `disk_is_read`: a filler had to wait for pages lately. kInternal: there is no such step.
  [[nodiscard]] Result<BatchClips> take(BatchRecords& records, std::uint64_t step,
                                        bool disk_is_read);
  // Finds the records of a batch unless take() gave them.
  void find_records(const BatchClips& clips, BatchRecords& records);
  // Finds the records of the clips anew, without staging. Ends borrowing.
  void find_again(const BatchClips& clips, BatchRecords& records) const;

  [[nodiscard]] bool is_staged(const ColumnLayout& column) const;
  // Releases what was staged for rows [first, end) of a batch, used or not, but not borrowed.
  void release(const BatchRecords& records, std::size_t first_row, std::size_t end_row) const;
  // Releases what the slot has borrowed: once `until` has happened, or now where it is null.
  void end_borrowing(BatchRecords& records,
                     const std::shared_ptr<const device::BorrowingEnd>& until) const noexcept;

 private:
  struct Planned {
    BatchClips clips;
    BatchRecords records = {};
  };
  [[nodiscard]] bool looks_ahead() const;
  [[nodiscard]] std::uint64_t batches_ahead(const BatchClips& clips) const;
  [[nodiscard]] bool plan_next();
  void plan_until(std::uint64_t end_step);
  void drop_first();
  void announce_headers(const BatchClips& clips) const;
  [[nodiscard]] std::vector<Places> locate(const BatchClips& clips) const;
  void check_whether_in_memory(const BatchLayout& layout, const std::vector<Places>& places);
  void ask_for(Planned& planned);
  void announce(const BatchLayout& layout, const std::vector<Places>& places) const;
  [[nodiscard]] std::uint64_t stage(const reader::RecordPlace& place) const noexcept;

  const reader::CacheSet& caches_;
  ReadAheadOptions options_;
  ChooseClips choose_clips_;
  // By step: first batches whose records were asked for, then some with headers alone.
  std::deque<Planned> planned_;
  std::size_t asked_count_ = 0;
  std::uint64_t first_step_ = 0;  // of planned_
  // How many more batches are announced although everything was in memory lately.
  std::uint32_t batches_to_announce_ = 0;
};

}  // namespace xtts::loader
