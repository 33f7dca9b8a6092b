// WindowPages: brings what a window's records take into the system's page cache, in the order in
// which it lies on the disk, and, where it is told to, keeps the last two windows there.
//
// The disk is asked for few long runs, each byte once:
// - What lies in memory already is not read.
// - The ranks of one machine take turns: each wants the same window, and two that read the same run
//   at the same time keep overtaking each other by a few pages, which costs a rotating disk two
//   seeks each time (measured: 110 to 199 seeks instead of 60). Who comes second waits, and finds
//   the run in memory. The turn is a lock on an opening of the cache's index file of its own, which
//   reaches as far as the page cache does: this machine. Where there are no such locks, or the
//   holder does not go on for ten seconds, reading goes on without; and does not wait again before
//   a turn was to be had.
// - The next 4 MiB are announced to the kernel, so that the disk goes on while this thread waits
// for
//   a processor.
// - A small shard is read whole when any of it is wanted: that takes less time than the seeks that
//   other windows would make for the rest.
// - The index is read once, from front to back, before the first window, where it would otherwise
//   be looked up bit by bit between the runs.
//
// One thread at a time. Nothing fails, but that memory may be wanting (std::bad_alloc): what cannot
// be read is not told here, the filler of the record finds it out. `caches` and `selection` must
// outlive it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "loader/epoch_order.hpp"
#include "loader/selection.hpp"
#include "reader/cache_set.hpp"
#include "reader/file_ranges.hpp"

namespace xtts {
class FileMapping;
}

namespace xtts::loader {

class WindowPages {
 public:
  // `keep_in_memory`: locks the pages of the last two windows, so that nothing that goes on in the
  // machine takes them away before they are used, as far as the limits allow it.
  // `patience`: how long a turn is waited for. A run is read in less than a second; who holds a
  // turn for ten has been suspended.
  WindowPages(const reader::CacheSet& caches, const Selection& selection,
              std::vector<const reader::SharedColumn*> columns, bool keep_in_memory,
              std::chrono::milliseconds patience = std::chrono::seconds(10));
  ~WindowPages();
  WindowPages(const WindowPages&) = delete;
  WindowPages& operator=(const WindowPages&) = delete;

  // Asked between pieces of a MiB and while waiting: should it end early?
  using IsStopping = std::function<bool()>;
  void bring_in_indexes(const IsStopping& is_stopping);
  void bring_in(const EpochOrder& order, std::uint64_t window, const IsStopping& is_stopping);

  // What the system did not grant; empty if nothing. From any thread.
  [[nodiscard]] std::string shortfall() const;

 private:
  struct Run {
    std::size_t cache = 0;
    std::uint32_t column_id = 0;
    reader::FileRange range;

    friend bool operator==(const Run&, const Run&) = default;
  };

  [[nodiscard]] std::vector<Run> find_runs(const EpochOrder& order, std::uint64_t window) const;
  void find_runs(std::size_t cache, const reader::SharedColumn& column,
                 const std::vector<PositionRange>& positions, std::vector<Run>& runs) const;
  void read_run(const Run& run, const IsStopping& is_stopping);
  [[nodiscard]] std::unique_ptr<FileLock> wait_for_turn(std::size_t cache,
                                                        const std::function<bool()>& is_needless);
  void keep(const Run& run);
  void let_go_of_oldest();
  [[nodiscard]] std::shared_ptr<const FileMapping> mapping_of(const Run& run) const;

  const reader::CacheSet& caches_;
  const Selection& selection_;
  std::vector<const reader::SharedColumn*> columns_;
  const bool keep_in_memory_;
  const std::chrono::milliseconds patience_;
  std::vector<std::unique_ptr<RandomAccessFile>> indexes_;  // by cache; null: cannot be opened
  // By cache: a turn was waited for in vain. Until one is had again, none is waited for.
  std::vector<bool> has_waited_in_vain_;
  std::vector<std::byte> piece_;       // what is read goes through here and is forgotten
  std::deque<std::vector<Run>> kept_;  // a window each, the oldest first
  mutable std::mutex mutex_;           // guards what stands below
  std::string shortfall_;
};

}  // namespace xtts::loader
