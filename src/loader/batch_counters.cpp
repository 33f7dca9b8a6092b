#include "loader/batch_counters.hpp"

#include <algorithm>
#include <chrono>

namespace xtts::loader {

void BatchCounters::count(const BatchSlot& slot, const Ring& ring) {
  const auto now = std::chrono::steady_clock::now();
  const std::uint64_t sample_count = slot.clips.positions.size();
  const bool is_in_place = std::ranges::all_of(
      slot.in_place, [](const ColumnInPlace& column) { return column.mapping != nullptr; });
  const std::scoped_lock lock(mutex_);
  intervals_.tick(now);
  ++counts_.batch_count;
  counts_.sample_count += sample_count;
  counts_.cache_hits += sample_count - std::min<std::uint64_t>(slot.found.read_count, sample_count);
  counts_.bytes += slot.finished.true_bytes;
  for (std::size_t row = 0; row < sample_count; ++row)
    counts_.saturated_count += slot.found.saturated[row].count;
  if (is_in_place) ++counts_.batches_in_place;
  if (file_ != nullptr && file_->is_due(now)) {
    const double waited_s = std::chrono::duration<double>(ring.waits().consumer).count();
    file_->write(now, {.batches = counts_.batch_count,
                       .samples = counts_.sample_count,
                       .bytes = counts_.bytes,
                       .consumer_wait_s = waited_s});
  }
}

void BatchCounters::forget_last_interval() {
  const std::scoped_lock lock(mutex_);
  intervals_.forget_last();
}

ReaderStats BatchCounters::stats() const {
  std::unique_lock lock(mutex_);
  ReaderStats stats = counts_;
  const IntervalStats intervals = intervals_;
  lock.unlock();
  stats.ms_mean = intervals.mean_ms();
  stats.ms_std = intervals.std_ms();
  stats.ms_p50 = intervals.percentile_ms(0.50);
  stats.ms_p95 = intervals.percentile_ms(0.95);
  stats.ms_p99 = intervals.percentile_ms(0.99);
  return stats;
}

}  // namespace xtts::loader
