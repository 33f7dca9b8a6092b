// ReadAhead: which records the next batches need, and where they lie, some batches before these are
// begun, so that the disk works on many of them at once: into the page cache (announced to the
// kernel), or into staging memory (record_staging.hpp). The headers of their blocks, without which
// no record can be found, are asked for some batches before that.
//
// Where everything lies in memory none of this is done: records are found when their batch is
// begun, and a few pages of each batch are looked at, whether they are still there.
//
// One thread at a time, but for what is const: that any thread may call at any time. What cannot be
// found has no block in its place, and whoever fills its row finds out why.
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

// Records smaller than this go through the page cache in any case: there all of such a column fits,
// and neighbours come along with each.
constexpr std::uint64_t kStagedRecordBytesMin = std::uint64_t{16} << 10U;
// What is announced to the page cache ahead of the batches. A disk works on all of it at once: with
// 56 MiB (7 batches of 32) seven batches came at the same moment and then none, with 8 MiB they
// come one by one (variation 1.2 and 0.3), at the same speed.
constexpr std::uint64_t kAnnouncedBytes = std::uint64_t{16} << 20U;

struct ReadAheadOptions {
  RecordStaging* staging = nullptr;  // outlives it; null: through the page cache
  bool looks_ahead = true;           // no: somebody else reads ahead (window_reader.hpp)
  bool reads_padding = true;  // a check goes over what stands behind the true rows of a record, too
};

class ReadAhead {
 public:
  // `caches` must outlive it, and the layouts that `choose_clips` names.
  ReadAhead(const reader::CacheSet& caches, const ReadAheadOptions& options,
            ChooseClips choose_clips);

  // Forgets what it knows. While nobody fills.
  void restart();

  // The clips of a batch, with their records where they were looked up ahead. Steps in ascending
  // order; where one fails or throws, the next is taken as if it had not been. `disk_is_read`:
  // pages had to be waited for lately. kInternal: there is no such step.
  [[nodiscard]] Status take(BatchSlot& slot, std::uint64_t step, bool disk_is_read);
  // The records of a batch where take() has left that open.
  void find_records(BatchSlot& slot);
  // The records of other positions, or of the same once more: by the ordinary path, and now.
  void find_again(BatchSlot& slot) const;

  [[nodiscard]] bool is_staged(const ColumnLayout& column) const;
  // Lets go of what was staged for rows [first, end) of a batch, used or not.
  void release(const BatchSlot& slot, std::uint32_t first_row, std::uint32_t end_row) const;

 private:
  struct Planned {
    BatchClips clips;
    std::vector<Places> places = {};
    std::vector<Tickets> tickets = {};
  };
  [[nodiscard]] bool looks_ahead() const;
  [[nodiscard]] std::uint64_t batches_ahead(const BatchClips& clips) const;
  [[nodiscard]] bool plan_next();
  void plan_until(std::uint64_t end_step);
  void drop_first();
  void release(const std::vector<Tickets>& tickets, std::size_t first_row,
               std::size_t end_row) const;
  void announce_headers(const BatchClips& clips) const;
  [[nodiscard]] std::vector<Places> locate(const BatchLayout& layout,
                                           const std::vector<std::uint64_t>& positions) const;
  void note_where_it_lies(const BatchLayout& layout, const std::vector<Places>& places);
  void ask_for(Planned& planned);
  void announce(const BatchLayout& layout, const std::vector<Places>& places) const;
  [[nodiscard]] std::uint64_t stage(const reader::RecordPlace& place) const noexcept;

  const reader::CacheSet& caches_;
  ReadAheadOptions options_;
  ChooseClips choose_clips_;
  std::deque<Planned> planned_;  // those whose records were asked for, then some with headers alone
  std::size_t asked_count_ = 0;
  std::uint64_t first_step_ = 0;  // of planned_
  // Batches that may still be announced although nothing was on the disk of late.
  std::uint32_t patience_ = 0;
};

}  // namespace xtts::loader
