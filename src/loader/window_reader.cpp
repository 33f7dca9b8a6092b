#include "loader/window_reader.hpp"

#include <algorithm>
#include <cassert>
#include <new>
#include <system_error>
#include <utility>

#include "base/guarded_read.hpp"

namespace xtts::loader {

WindowReader::WindowReader(const reader::CacheSet& caches, const Selection& selection,
                           std::vector<const reader::SharedColumn*> columns, bool keep_in_memory)
    : order_(EpochOrderOptions{}), pages_(caches, selection, std::move(columns), keep_in_memory) {}

WindowReader::~WindowReader() {
  stop();
}

void WindowReader::begin(const EpochOrder& order, std::uint64_t first_place) {
  assert(!thread_.joinable());
  order_ = order;
  is_stopping_ = false;
  const bool has_windows = first_place < order.sample_count() && order.window_count() > 0;
  read_end_ = wanted_end_ = has_windows ? order.window_of(first_place) : order.window_count();
  if (!has_windows) return;
  want_until_after(read_end_);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    read_end_ =
        order.window_count();  // there is no thread: fillers do not wait, but fault pages in
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
  want_until_after(window);
  changed_.wait(lock, [&] { return read_end_ > window || is_stopping_; });
}

void WindowReader::want_until_after(std::uint64_t window) {
  const std::uint64_t end = std::min(window + 2, order_.window_count() + 1);
  if (wanted_end_ >= end) return;
  wanted_end_ = end;
  changed_.notify_all();
}

bool WindowReader::is_stopping() const {
  const std::scoped_lock lock(mutex_);
  return is_stopping_;
}

void WindowReader::run() {
  block_process_signals();
  std::unique_lock lock(mutex_);
  while (read_end_ <= order_.window_count()) {
    changed_.wait(lock, [&] { return read_end_ < wanted_end_ || is_stopping_; });
    if (is_stopping_) return;
    const std::uint64_t window = read_end_;
    lock.unlock();
    try {
      read(window);
    } catch (...) {
      // The fillers read the window, page by page.
    }
    lock.lock();
    ++read_end_;
    changed_.notify_all();
  }
}

void WindowReader::read(std::uint64_t window) {
  const auto stops = [this] { return is_stopping(); };
  if (window < order_.window_count()) {
    pages_.bring_in(order_, window, stops);
  } else {
    pages_.bring_in(order_.next_epoch(), 0, stops);
  }
}

}  // namespace xtts::loader
