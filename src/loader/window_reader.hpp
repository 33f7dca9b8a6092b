// WindowReader reads the windows of an epoch (window_pages.hpp) in a thread of its own, one window
// ahead of the batches. Two windows have to fit into memory beside everything else.
//
// Fillers wait for a window before they touch it. Beside the sequential reading, each page that
// they fault in at random would cost a rotating disk a seek.
//
// Behind an epoch's last window it reads the first one of the next epoch, which is asked for next
// in all but the last. Otherwise the disk would rest while the last window is consumed, and the
// consumer while the first is read. If another epoch comes, or none, only idle disk time is lost.
//
// Any thread may call wait_for(). The owner calls begin(), while nobody waits, and stop(). `caches`
// and `selection` must outlive it.
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

  // Reads the windows of `order`, from the one that holds `first_place` on. Only after stop(), or
  // once at the beginning.
  void begin(const EpochOrder& order, std::uint64_t first_place);
  void stop();

  // Returns when the window of this place has been read, or stop() was called.
  void wait_for(std::uint64_t place);

  // Tells what the system did not grant, if anything. From any thread.
  [[nodiscard]] std::string shortfall() const { return pages_.shortfall(); }

 private:
  void run();
  void read(std::uint64_t window);
  void want_until_after(std::uint64_t window);
  [[nodiscard]] bool is_stopping() const;

  EpochOrder order_;
  WindowPages pages_;  // belongs to the thread, while there is one
  std::thread thread_;
  mutable std::mutex mutex_;  // guards what stands below
  std::condition_variable changed_;
  // Windows are counted on over the epoch's end: behind the last one stands the next epoch's first.
  std::uint64_t read_end_ = 0;    // windows before this have been read
  std::uint64_t wanted_end_ = 0;  // windows before this may be read
  bool is_stopping_ = false;
};

}  // namespace xtts::loader
