#include "loader/window_pages.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/file_mapping.hpp"
#include "reader/block_map.hpp"

namespace xtts::loader {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kWindowPieceBytes = std::size_t{1} << 20U;
// A disk of 150 MB/s reads so much in 7 ms; a seek takes 10.
constexpr std::uint64_t kWholeShardBytesMax = std::uint64_t{1} << 20U;
// So much is announced ahead of the reading. It gives the disk work for 27 ms when this thread
// waits for a processor. The kernel's own read-ahead is 128 KiB, or one millisecond.
constexpr std::uint64_t kRunAheadBytes = std::uint64_t{4} << 20U;
constexpr std::size_t kWindowsKept = 2;
constexpr std::chrono::milliseconds kBetweenTries{2};

bool is_in_memory(const FileMapping& mapping, std::uint64_t offset_bytes,
                  std::uint64_t size_bytes) {
  return mapping.resident_bytes(offset_bytes, size_bytes) >= size_bytes;
}

}  // namespace

WindowPages::WindowPages(const reader::CacheSet& caches, const Selection& selection,
                         std::vector<const reader::SharedColumn*> columns, bool keep_in_memory,
                         std::chrono::milliseconds patience)
    : caches_(caches),
      selection_(selection),
      columns_(std::move(columns)),
      keep_in_memory_(keep_in_memory),
      patience_(patience),
      piece_(kWindowPieceBytes) {
  has_waited_in_vain_.resize(caches.cache_count());
  is_index_in_.resize(caches.cache_count());
}

WindowPages::~WindowPages() {
  while (!kept_.empty()) let_go_of_oldest();
}

std::string WindowPages::shortfall() const {
  const std::scoped_lock lock(mutex_);
  return shortfall_;
}

std::unique_ptr<RandomAccessFile> WindowPages::open_index(std::size_t cache) const {
  const auto view = caches_.cache(cache);
  if (!view.ok()) return nullptr;
  auto file = (*view)->open_index();
  return file.ok() ? std::move(*file) : nullptr;
}

void WindowPages::bring_in_index(std::size_t cache, const IsStopping& is_stopping) {
  if (is_index_in_[cache]) return;
  is_index_in_[cache] = true;
  const auto file = open_index(cache);
  if (file == nullptr) return;
  const auto mapping = file->map();
  const auto is_needless = [&] {
    return is_stopping() || (mapping.ok() && is_in_memory(**mapping, 0, file->size_bytes()));
  };
  if (is_needless()) return;
  const auto turn = wait_for_turn(cache, is_needless);
  for (std::uint64_t done = 0; done < file->size_bytes() && !is_needless();) {
    const auto got = file->read_at(done, piece_);
    if (!got.ok() || *got == 0) break;
    done += *got;
  }
}

void WindowPages::bring_in(const EpochOrder& order, std::uint64_t window,
                           const IsStopping& is_stopping) {
  const std::vector<Run> runs = find_runs(order, window, is_stopping);
  // The window may be kept already: as the guessed first one of this epoch.
  std::erase(kept_, runs);
  while (kept_.size() >= kWindowsKept) let_go_of_oldest();
  if (keep_in_memory_) kept_.push_back(runs);
  for (const Run& run : runs) {
    if (is_stopping()) return;
    read_run(run, is_stopping);
    if (keep_in_memory_) keep(run);  // at once: pages may go within seconds
  }
}

// Goes by cache, by column and by shard, from front to back: that makes the fewest seeks.
std::vector<WindowPages::Run> WindowPages::find_runs(const EpochOrder& order, std::uint64_t window,
                                                     const IsStopping& is_stopping) {
  std::vector<std::vector<PositionRange>> positions(caches_.cache_count());
  for (const SampleRange& stretch : order.stretches_of(window)) {
    for (PositionRange range :
         selection_.positions_of(stretch.first_sample, stretch.sample_count)) {
      while (range.count > 0) {
        const auto place = caches_.locate(range.first_position);
        const std::uint64_t left = caches_.clip_count(place.table) - place.position;
        const std::uint64_t now = std::min(range.count, left);
        positions[place.table].push_back({place.position, now});
        range = {range.first_position + now, range.count - now};
      }
    }
  }
  std::vector<Run> runs;
  for (std::size_t cache = 0; cache < positions.size(); ++cache) {
    if (positions[cache].empty()) continue;
    bring_in_index(cache, is_stopping);
    for (const reader::SharedColumn* column : columns_) {
      find_runs(cache, *column, positions[cache], runs);
    }
  }
  return runs;
}

void WindowPages::find_runs(std::size_t cache, const reader::SharedColumn& column,
                            const std::vector<PositionRange>& positions,
                            std::vector<Run>& runs) const {
  const auto view = caches_.cache(cache);
  const auto column_id = caches_.column_id(column, cache);
  if (!view.ok() || !column_id.ok()) return;
  const formats::ColumnEntry& entry = (*view)->manifest().columns[*column_id];
  std::vector<reader::FileRange> ranges;
  for (const PositionRange& range : positions) {
    const auto found =
        reader::find_file_ranges(**view, entry.spec, range.first_position, range.count);
    if (found.ok()) ranges.insert(ranges.end(), found->begin(), found->end());
  }
  for (reader::FileRange& range : ranges) {
    if (range.shard >= entry.shards.size()) continue;
    const std::uint64_t file_bytes = entry.shards[range.shard].file_bytes;
    if (file_bytes <= kWholeShardBytesMax) range = {range.shard, 0, file_bytes};
  }
  for (const reader::FileRange& range : reader::join_ranges(std::move(ranges))) {
    if (range.shard < entry.shards.size()) runs.push_back({cache, *column_id, range});
  }
}

void WindowPages::read_run(const Run& run, const IsStopping& is_stopping) {
  const auto mapping = mapping_of(run);
  if (mapping == nullptr) return;
  reader::BlockMap& blocks = (*caches_.cache(run.cache))->blocks();
  const reader::FileRange& range = run.range;
  const std::uint64_t end = range.offset_bytes + range.size_bytes;
  // Looks at the last byte first. While another rank reads, that saves looking at the whole run.
  const auto is_needless = [&] {
    return is_stopping() || (is_in_memory(*mapping, end - 1, 1) &&
                             is_in_memory(*mapping, range.offset_bytes, range.size_bytes));
  };
  if (range.size_bytes == 0 || is_needless()) return;
  const auto turn = wait_for_turn(run.cache, is_needless);
  std::uint64_t announced = range.offset_bytes;
  for (std::uint64_t offset = range.offset_bytes; offset < end && !is_stopping();) {
    const std::uint64_t ahead = std::min(end, offset + kRunAheadBytes);
    mapping->will_need(announced, ahead - announced);
    announced = ahead;
    const std::size_t now = std::min<std::uint64_t>(piece_.size(), end - offset);
    if (!is_in_memory(*mapping, offset, now))
      blocks.read_stretch(run.column_id, range.shard, offset, std::span(piece_).first(now));
    offset += now;
  }
}

WindowPages::Turn WindowPages::wait_for_turn(std::size_t cache,
                                             const std::function<bool()>& is_needless) {
  Turn turn{.index = open_index(cache), .lock = nullptr};
  if (turn.index == nullptr) return turn;
  const Clock::time_point deadline = Clock::now() + patience_;
  for (;;) {
    auto lock = turn.index->try_lock();
    if (lock.ok()) {
      has_waited_in_vain_[cache] = false;
      turn.lock = std::move(*lock);
      return turn;
    }
    if (lock.status().code() != StatusCode::kBusy || has_waited_in_vain_[cache]) return turn;
    std::this_thread::sleep_for(kBetweenTries);
    if (is_needless()) return turn;
    has_waited_in_vain_[cache] = Clock::now() >= deadline;
  }
}

void WindowPages::keep(const Run& run) {
  const auto mapping = mapping_of(run);
  if (mapping == nullptr) return;
  const Status status = mapping->lock_pages(run.range.offset_bytes, run.range.size_bytes);
  if (status.ok()) return;
  const std::scoped_lock lock(mutex_);
  shortfall_ = "windows are not locked in memory: " + status.message();
}

void WindowPages::let_go_of_oldest() {
  const std::vector<Run> oldest = std::move(kept_.front());
  kept_.pop_front();
  for (const Run& run : oldest) {
    // A small shard may serve several windows.
    const bool is_shared = std::ranges::any_of(kept_, [&](const std::vector<Run>& runs) {
      return std::ranges::find(runs, run) != runs.end();
    });
    if (is_shared) continue;
    if (const auto mapping = mapping_of(run); mapping != nullptr) {
      mapping->unlock_pages(run.range.offset_bytes, run.range.size_bytes);
    }
  }
}

std::shared_ptr<const FileMapping> WindowPages::mapping_of(const Run& run) const {
  const auto cache = caches_.cache(run.cache);
  return cache.ok() ? (*cache)->blocks().mapping(run.column_id, run.range.shard) : nullptr;
}

}  // namespace xtts::loader
