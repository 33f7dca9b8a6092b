#include "loader/window_reader.hpp"

#include <algorithm>
#include <cassert>
#include <new>
#include <system_error>

#include "base/guarded_read.hpp"
#include "reader/block_map.hpp"
#include "reader/file_ranges.hpp"

namespace xtts::loader {
namespace {

constexpr std::size_t kPieceBytesOfWindow = std::size_t{1} << 20U;

}  // namespace

WindowReader::WindowReader(const reader::CacheSet& caches, const Selection& selection,
                           std::vector<const reader::SharedColumn*> columns)
    : caches_(caches),
      selection_(selection),
      columns_(std::move(columns)),
      piece_(kPieceBytesOfWindow),
      order_(EpochOrderOptions{}) {}

WindowReader::~WindowReader() {
  stop();
}

void WindowReader::begin(const EpochOrder& order, std::uint64_t first_place) {
  assert(!thread_.joinable());
  order_ = order;
  const bool has_windows = first_place < order.sample_count() && order.window_count() > 0;
  read_end_ = has_windows ? order.window_of(first_place) : order.window_count();
  wanted_end_ = std::min(read_end_ + 2, order.window_count());
  is_stopping_ = false;
  if (read_end_ == wanted_end_) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    read_end_ =
        order.window_count();  // no thread to be had: nobody waits, and pages are faulted in
  }
}

void WindowReader::stop() {
  {
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void WindowReader::wait_for(std::uint64_t place) {
  const std::uint64_t window = order_.window_of(place);
  std::unique_lock lock(mutex_);
  if (wanted_end_ < window + 2) {
    wanted_end_ = std::min(window + 2, order_.window_count());
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return read_end_ > window || is_stopping_; });
}

bool WindowReader::is_stopping() const {
  const std::scoped_lock lock(mutex_);
  return is_stopping_;
}

void WindowReader::run() {
  leave_signals_to_others();
  std::unique_lock lock(mutex_);
  while (read_end_ < order_.window_count()) {
    changed_.wait(lock, [&] { return read_end_ < wanted_end_ || is_stopping_; });
    if (is_stopping_) return;
    const std::uint64_t window = read_end_;
    lock.unlock();
    try {
      read_window(window);
    } catch (const std::bad_alloc&) {
      // The fillers read it, page by page.
    }
    lock.lock();
    ++read_end_;
    changed_.notify_all();
  }
}

// Cache by cache, column by column, shard by shard, from front to back: the fewest seeks.
void WindowReader::read_window(std::uint64_t window) {
  std::vector<std::vector<PositionRange>> positions(caches_.cache_count());
  for (const SampleRange& stretch : order_.stretches_of(window)) {
    for (PositionRange range :
         selection_.positions_of(stretch.first_sample, stretch.sample_count)) {
      while (range.count > 0) {
        const auto place = caches_.locate(range.first_position);
        const std::uint64_t left = caches_.cache(place.cache).size() - place.position;
        const std::uint64_t now = std::min(range.count, left);
        positions[place.cache].push_back({place.position, now});
        range = {range.first_position + now, range.count - now};
      }
    }
  }
  for (std::size_t cache = 0; cache < positions.size(); ++cache) {
    for (const reader::SharedColumn* column : columns_) {
      read_column(*column, cache, positions[cache]);
    }
  }
}

void WindowReader::read_column(const reader::SharedColumn& column, std::size_t cache,
                               const std::vector<PositionRange>& positions) {
  reader::CacheView& view = caches_.cache(cache);
  const std::uint32_t column_id = column.ids[cache];
  std::vector<reader::FileRange> ranges;
  for (const PositionRange& range : positions) {
    const auto found = reader::find_file_ranges(view, view.manifest().columns[column_id].spec,
                                                range.first_position, range.count);
    if (found.ok()) ranges.insert(ranges.end(), found->begin(), found->end());
  }
  for (const reader::FileRange& range : reader::join_ranges(std::move(ranges))) {
    for (std::uint64_t done = 0; done < range.size_bytes && !is_stopping();) {
      const std::size_t now = std::min<std::uint64_t>(piece_.size(), range.size_bytes - done);
      view.blocks().bring_in(column_id, range.shard, range.offset_bytes + done,
                             std::span(piece_).first(now));
      done += now;
    }
  }
}

}  // namespace xtts::loader
