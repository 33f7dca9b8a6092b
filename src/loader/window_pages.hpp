// WindowPages brings the records of a window into the system's page cache, in the order in which
// they lie on the disk. On request it keeps the last two windows there.
//
// It asks the disk for few long runs, and for each byte once:
// - Pages that lie in memory already are not read.
// - The ranks of one machine take turns. All want the same window, and two ranks that read the same
//   run keep overtaking each other by a few pages. On a rotating disk each time costs two seeks
//   (measured: 110 to 199 seeks and not 60). The second rank waits, and finds the run in memory.
// - A turn is a lock on the cache's index file, which is opened for it. Like the page
//   cache, the lock reaches over this machine. Where there are no such locks, or the holder does
//   not go on for ten seconds, it reads without a turn, and waits for none until one is free again.
// - The next 4 MiB are announced to the kernel. So the disk goes on while this thread waits for a
//   processor.
// - A small shard is read whole when any of it is wanted. That takes less time than the seeks that
//   other windows would make for the rest.
// - A cache's index is read once, from front to back, before its first run. Otherwise it would be
//   looked up bit by bit between the runs.
//
// One thread at a time. Nothing fails but for lack of memory (std::bad_alloc). It does not tell
// that something cannot be read: the filler of the record finds out. `caches` and `selection` must
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
  // `keep_in_memory`: locks the pages of the last two windows, as far as limits allow it, so that
  // no other work takes them away before they are used.
  // `patience`: how long to wait for a turn. A run is read in less than a second, so a rank that
  // holds its turn for ten has been suspended.
  WindowPages(const reader::CacheSet& caches, const Selection& selection,
              std::vector<const reader::SharedColumn*> columns, bool keep_in_memory,
              std::chrono::milliseconds patience = std::chrono::seconds(10));
  ~WindowPages();
  WindowPages(const WindowPages&) = delete;
  WindowPages& operator=(const WindowPages&) = delete;

  // Returns true where reading should end early. Called between pieces of a MiB and while waiting.
  using IsStopping = std::function<bool()>;
  void bring_in(const EpochOrder& order, std::uint64_t window, const IsStopping& is_stopping);

  // Tells what the system did not grant, if anything. From any thread.
  [[nodiscard]] std::string shortfall() const;

 private:
  struct Run {
    std::size_t cache = 0;
    std::uint32_t column_id = 0;
    reader::FileRange range;

    friend bool operator==(const Run&, const Run&) = default;
  };

  [[nodiscard]] std::unique_ptr<RandomAccessFile> open_index(std::size_t cache) const;
  void bring_in_index(std::size_t cache, const IsStopping& is_stopping);
  [[nodiscard]] std::vector<Run> find_runs(const EpochOrder& order, std::uint64_t window,
                                           const IsStopping& is_stopping);
  void find_runs(std::size_t cache, const reader::SharedColumn& column,
                 const std::vector<PositionRange>& positions, std::vector<Run>& runs) const;
  void read_run(const Run& run, const IsStopping& is_stopping);
  // A turn at a cache's disk; nothing is locked where it is read without.
  struct Turn {
    std::unique_ptr<RandomAccessFile> index;
    std::unique_ptr<FileLock> lock;  // ends before the file
  };
  [[nodiscard]] Turn wait_for_turn(std::size_t cache, const std::function<bool()>& is_needless);
  void keep(const Run& run);
  void let_go_of_oldest();
  [[nodiscard]] std::shared_ptr<const FileMapping> mapping_of(const Run& run) const;

  const reader::CacheSet& caches_;
  const Selection& selection_;
  std::vector<const reader::SharedColumn*> columns_;
  const bool keep_in_memory_;
  const std::chrono::milliseconds patience_;
  std::vector<bool> is_index_in_;  // by cache
  // By cache: it waited for a turn in vain. It does not wait again before a turn was free.
  std::vector<bool> has_waited_in_vain_;
  std::vector<std::byte> piece_;       // takes what is read, and is overwritten by the next piece
  std::deque<std::vector<Run>> kept_;  // by window, the oldest first
  mutable std::mutex mutex_;           // guards what stands below
  std::string shortfall_;
};

}  // namespace xtts::loader
