// WindowReader: reads the windows of a windowed epoch ahead (window_pages.hpp), in a thread of its
// own, one window ahead of the batches: two windows have to fit into memory beside everything else.
//
// Fillers wait for a window before they touch it: pages faulted in at random beside the sequential
// reading would cost a rotating disk a seek each.
//
// Behind an epoch's last window it reads the first one of the next epoch, which is what is asked
// for next in all but the last: otherwise the disk would rest while the last window is consumed,
// and the consumer while the first is read. If another epoch comes, or none, time of the disk was
// wasted that nobody wanted.
//
// wait_for() from any thread; begin() and stop() by the owner, with no one waiting. `caches` and
// `selection` must outlive it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "loader/epoch_order.hpp"
#include "loader/selection.hpp"
#include "loader/window_pages.hpp"
#include "reader/cache_set.hpp"

namespace xtts::loader {

class WindowReader {
 public:
  // `keep_in_memory`: as WindowPages.
  WindowReader(const reader::CacheSet& caches, const Selection& selection,
               std::vector<const reader::SharedColumn*> columns, bool keep_in_memory);
  ~WindowReader();
  WindowReader(const WindowReader&) = delete;
  WindowReader& operator=(const WindowReader&) = delete;

  // Reads the windows of `order` from that of `first_place` on. After stop(), or once.
  void begin(const EpochOrder& order, std::uint64_t first_place);
  void stop();

  // Returns when the window of this place has been read (or stop() was called).
  void wait_for(std::uint64_t place);

  // What the system did not grant; empty if nothing. From any thread.
  [[nodiscard]] std::string shortfall() const { return pages_.shortfall(); }

 private:
  void run();
  void read(std::uint64_t window);
  void want_until_after(std::uint64_t window);
  [[nodiscard]] bool is_stopping() const;

  EpochOrder order_;
  WindowPages pages_;  // of the thread, while there is one
  std::thread thread_;
  mutable std::mutex mutex_;  // guards what stands below
  std::condition_variable changed_;
  // The window behind the last one is the first of the next epoch.
  std::uint64_t read_end_ = 0;    // windows before this have been read
  std::uint64_t wanted_end_ = 0;  // windows before this may be read
  bool is_stopping_ = false;
};

}  // namespace xtts::loader
