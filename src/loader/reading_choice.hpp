// Decides whether a reader gets its records through the page cache or past it.
// find_reading_facts() finds out about the storage, by reading. choose_reading() decides, and is
// pure. Both put it in words that stats() repeats. README.md has the measurements behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/env.hpp"
#include "loader/batch_layout.hpp"
#include "reader/cache_set.hpp"
#include "xtts/batch.hpp"

namespace xtts::loader {

struct ReadingFacts {
  StorageFacts storage = {};     // with several caches, that of the slowest
  std::uint64_t file_bytes = 0;  // shards of the columns that are read, with all clips
  // The share of those bytes in the page cache, from samples. Nothing where the system does not
  // tell.
  std::optional<double> resident_share = {};
  std::optional<std::uint64_t> available_memory_bytes = {};
};

[[nodiscard]] ReadingFacts find_reading_facts(const reader::CacheSet& caches,
                                              const BatchLayout& layout);
// "ext4 on nvme0n1 (SSD), 77.0 GiB, 3 % of it in memory"
[[nodiscard]] std::string storage_in_words(const ReadingFacts& facts);

struct ReadingChoice {
  Reading reading = Reading::kMapped;  // never kAuto
  std::string why = {};
  std::string notice = {};  // what the user could do better, if anything
};

// Uses `reading`, `shuffle` and `crop_frames` of the options. Whether direct reads work here shows
// only when they are tried. Where they fail, fall_back() gives the choice in their stead.
[[nodiscard]] ReadingChoice choose_reading(const ReadingFacts& facts, const ReaderOptions& options);
[[nodiscard]] ReadingChoice fall_back(const ReadingChoice& choice, const Status& failure);

}  // namespace xtts::loader
