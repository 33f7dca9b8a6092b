// Kept holds what was opened or read last, of all caches that are read together: files, mappings,
// blocks, chunks of indexes. So a set of a thousand caches needs no more descriptors, mappings and
// memory than one cache.
//
// A thing stays alive while somebody holds it, also when it is no longer kept. Synchronised inside:
// any number of threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace xtts {
class DirectFile;
class FileMapping;
class RandomAccessFile;
}  // namespace xtts

namespace xtts::reader {

struct OpenBlock;  // block_map.hpp
struct ShardFile;  // shard_files.hpp

// Names a thing: its owner (Kept::new_owner()), and what the owner calls it.
struct KeptKey {
  std::uint64_t owner = 0;
  std::uint64_t name = 0;

  friend bool operator==(const KeptKey&, const KeptKey&) = default;
};

template <typename Thing>
class KeptThings {
 public:
  using Held = std::shared_ptr<const Thing>;

  explicit KeptThings(std::size_t count_max) : count_max_(count_max) {}

  // Null: it is not kept.
  [[nodiscard]] Held find(const KeptKey& key) const {
    const std::scoped_lock lock(mutex_);
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : found->second;
  }
  // Returns what is kept under the key now: another thread may have been faster.
  Held add(const KeptKey& key, Held thing) {
    Held dropped;  // is closed without the lock
    const std::scoped_lock lock(mutex_);
    const auto [entry, is_new] = by_key_.emplace(key, std::move(thing));
    if (!is_new) return entry->second;
    Held added = entry->second;
    oldest_first_.push_back(key);
    if (oldest_first_.size() > count_max_) {
      const auto oldest = by_key_.find(oldest_first_.front());
      dropped = std::move(oldest->second);
      by_key_.erase(oldest);
      oldest_first_.pop_front();
    }
    return added;
  }
  // False: nothing was kept.
  bool clear() {
    Map dropped;
    const std::scoped_lock lock(mutex_);
    dropped.swap(by_key_);
    oldest_first_.clear();
    return !dropped.empty();
  }

 private:
  struct Hash {
    std::size_t operator()(const KeptKey& key) const noexcept {
      return static_cast<std::size_t>(key.owner * 0x9E3779B97F4A7C15U ^ key.name);
    }
  };
  using Map = std::unordered_map<KeptKey, Held, Hash>;

  const std::size_t count_max_;
  mutable std::mutex mutex_;  // guards the members below
  Map by_key_;
  std::deque<KeptKey> oldest_first_;
};

struct Kept {
  // A process has 1,024 descriptors, if nobody raises the limit, and 65,530 mappings.
  KeptThings<RandomAccessFile> indexes{64};
  KeptThings<ShardFile> shards{64};
  KeptThings<DirectFile> direct_shards{64};
  KeptThings<FileMapping> mappings{16'384};
  KeptThings<std::vector<std::byte>> index_chunks{1024};  // of 64 KiB
  KeptThings<OpenBlock> blocks{4096};                     // of 3 KiB
  // False: generations are read without a lock, which costs a descriptor for each cache.
  bool keeps_locks = true;

  [[nodiscard]] std::uint64_t new_owner() noexcept { return owner_count_.fetch_add(1); }

 private:
  std::atomic<std::uint64_t> owner_count_{0};
};

}  // namespace xtts::reader
