// WindowReader: reads the windows of a windowed epoch ahead, in long sequential runs, into the
// system's page cache, where the fillers then find their records in any order. One thread, one
// window ahead of the batches: two windows have to fit into memory beside everything else.
//
// Fillers wait for a window before they touch it: pages faulted in at random beside the sequential
// reading would cost a rotating disk a seek each. What lies in memory already is not read. What
// cannot be read is not told here: the filler of the record finds it out.
//
// wait_for() from any thread; begin() and stop() by the owner, with no one waiting. `caches` and
// `selection` must outlive it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "loader/epoch_order.hpp"
#include "loader/selection.hpp"
#include "reader/cache_set.hpp"

namespace xtts::loader {

class WindowReader {
 public:
  WindowReader(const reader::CacheSet& caches, const Selection& selection,
               std::vector<const reader::SharedColumn*> columns);
  ~WindowReader();
  WindowReader(const WindowReader&) = delete;
  WindowReader& operator=(const WindowReader&) = delete;

  // Reads the windows of `order` from that of `first_place` on. After stop(), or once.
  void begin(const EpochOrder& order, std::uint64_t first_place);
  void stop();

  // Returns when the window of this place has been read (or stop() was called).
  void wait_for(std::uint64_t place);

 private:
  void run();
  void read_window(std::uint64_t window);
  void read_column(const reader::SharedColumn& column, std::size_t cache,
                   const std::vector<PositionRange>& positions);
  [[nodiscard]] bool is_stopping() const;

  const reader::CacheSet& caches_;
  const Selection& selection_;
  std::vector<const reader::SharedColumn*> columns_;
  std::vector<std::byte> piece_;  // what is read goes through here and is forgotten

  EpochOrder order_;
  std::thread thread_;
  mutable std::mutex mutex_;  // guards what stands below
  std::condition_variable changed_;
  std::uint64_t read_end_ = 0;    // windows before this have been read
  std::uint64_t wanted_end_ = 0;  // windows before this may be read
  bool is_stopping_ = false;
};

}  // namespace xtts::loader
