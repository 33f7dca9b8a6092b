#include "request/sounds_ahead.hpp"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "base/current_exception.hpp"

namespace xtts::request {
namespace {

std::uint64_t bytes_of(const std::optional<Result<std::vector<float>>>& made) {
  return made && made->ok() ? (*made)->size() * sizeof(float) : 0;
}

}  // namespace

SoundsAhead::SoundsAhead(Make make, std::vector<std::uint64_t> positions, const Options& options)
    : make_(std::move(make)), positions_(std::move(positions)), options_(options) {}

SoundsAhead::~SoundsAhead() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Result<std::vector<float>> SoundsAhead::make_or_fail(std::uint64_t position) const noexcept {
  try {
    return make_(position);
  } catch (...) {
    return status_of_current_exception();
  }
}

Result<std::vector<float>> SoundsAhead::get(std::uint64_t position) {
  const auto found = std::ranges::lower_bound(positions_, position);
  if (found == positions_.end() || *found != position) return make_or_fail(position);
  const auto index = static_cast<std::size_t>(found - positions_.begin());
  {
    std::unique_lock lock(mutex_);
    look_ahead(index);
    const auto [entry, is_new] = sounds_.try_emplace(index);
    if (!is_new) {
      // Another caller may go on to a later unit meanwhile, which forgets this one.
      changed_.wait(lock, [&] {
        const auto sound = sounds_.find(index);
        return sound == sounds_.end() || sound->second.is_ready;
      });
      const auto sound = sounds_.find(index);
      if (sound != sounds_.end() && sound->second.made) {
        waiting_bytes_ -= bytes_of(sound->second.made);
        auto made = *std::exchange(sound->second.made, std::nullopt);
        changed_.notify_all();
        return made;
      }
    } else {
      entry->second.is_ready = true;  // a second caller makes it, too
    }
  }
  return make_or_fail(position);
}

// Forgets the units before the one that is asked for, and says how far the threads may go.
void SoundsAhead::look_ahead(std::size_t index) {
  const std::size_t unit = index / options_.clips_together;
  if (unit_ && unit <= *unit_) return;
  const std::size_t most = kClipsAheadMax * options_.thread_count;
  const std::size_t least = std::max<std::size_t>(options_.thread_count, options_.clips_together);
  const bool is_in_turn = unit == (unit_ ? *unit_ + 1 : 0);
  clips_ahead_ = is_in_turn ? std::clamp(2 * clips_ahead_, least, std::max(least, most)) : 0;
  unit_ = unit;
  const std::size_t first = unit * options_.clips_together;
  while (!sounds_.empty() && sounds_.begin()->first < first) {
    waiting_bytes_ -= bytes_of(sounds_.begin()->second.made);
    sounds_.erase(sounds_.begin());
  }
  next_ = std::max(next_, first);
  end_ = std::min(positions_.size(), first + options_.clips_together + clips_ahead_);
  if (clips_ahead_ > 0) start_threads();
  changed_.notify_all();
}

// If the system gives fewer threads, these do the work.
void SoundsAhead::start_threads() {
  try {
    while (threads_.size() < options_.thread_count) threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {  // no further thread
  } catch (const std::bad_alloc&) {     // no memory to note one
  }
}

bool SoundsAhead::may_begin() {
  while (next_ < end_ && sounds_.contains(next_)) ++next_;
  return next_ < end_ && waiting_bytes_ < options_.bytes_max;
}

// Out of memory before a sound is begun: the callers make the rest.
void SoundsAhead::run() noexcept {
  try {
    make_sounds();
  } catch (const std::bad_alloc&) {
  }
}

void SoundsAhead::make_sounds() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_stopped_ || may_begin(); });
    if (is_stopped_) return;
    const std::size_t index = next_++;
    sounds_.try_emplace(index);
    lock.unlock();
    auto made = make_or_fail(positions_[index]);
    lock.lock();
    put(index, std::move(made));
  }
}

void SoundsAhead::put(std::size_t index, Result<std::vector<float>> made) {
  const auto sound = sounds_.find(index);
  if (sound != sounds_.end()) {  // else nobody has wanted its unit
    sound->second = {true, std::move(made)};
    waiting_bytes_ += bytes_of(sound->second.made);
  }
  changed_.notify_all();
}

}  // namespace xtts::request
