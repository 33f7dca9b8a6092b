// BatchCounters counts the batches that a loader has handed out, and tells how evenly they came. It
// writes the StatsFile where one is asked for.
//
// One thread at a time. But any thread may call stats(). Nothing fails.
#pragma once

#include <memory>
#include <mutex>

#include "loader/interval_stats.hpp"
#include "loader/ring.hpp"
#include "loader/stats_file.hpp"
#include "xtts/batch.hpp"

namespace xtts::loader {

class BatchCounters {
 public:
  // Counts a batch that `ring` has brought.
  void count(const BatchSlot& slot, const Ring& ring);
  // Counts no interval until the next batch: an epoch has ended, or begins.
  void forget_last_interval();

  // Sets the fields of the batches and of their intervals.
  [[nodiscard]] ReaderStats stats() const;

 private:
  const std::unique_ptr<StatsFile> file_ = StatsFile::open_if_asked();
  mutable std::mutex mutex_;  // guards what stands below
  ReaderStats counts_;        // the fields of the batches alone
  IntervalStats intervals_;
};

}  // namespace xtts::loader
