#include "loader/reading_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/file_mapping.hpp"
#include "base/formatted.hpp"
#include "base/storage_facts.hpp"
#include "reader/block_map.hpp"

namespace xtts::loader {
namespace {

// The share of the available memory that a cache may fill. Other programs need the rest.
constexpr double kShareOfMemory = 0.8;
// With such a share in memory, the page cache gains more time than slower reads through it cost.
constexpr double kMostlyInMemory = 0.5;
constexpr std::size_t kSamplesMax = 64;
constexpr std::uint64_t kSampleBytes = std::uint64_t{1} << 20U;

std::string size_in_words(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text.data();
}

// Ranks kinds of storage by the cost of a seek.
int slowness(StorageKind kind) {
  switch (kind) {
    case StorageKind::kMemory:
      return 0;
    case StorageKind::kSsd:
      return 1;
    case StorageKind::kUnknown:
      return 2;
    case StorageKind::kNetwork:
      return 3;
    case StorageKind::kRotating:
      return 4;
  }
  return 2;
}

// Looks at evenly spaced places of the shards that are read.
class ResidencySamples {
 public:
  // True where the next place lies within these bytes. Else they are passed over.
  [[nodiscard]] bool looks_into(std::uint64_t bytes) {
    if (next_ < bytes) return true;
    next_ -= bytes;
    return false;
  }
  void look(reader::CacheView& cache, const formats::ColumnEntry& column,
            std::uint64_t bytes_apart) {
    for (std::uint32_t shard = 0; shard < column.shards.size(); ++shard) {
      const std::uint64_t file_bytes = column.shards[shard].file_bytes;
      for (; next_ < file_bytes; next_ += bytes_apart) {
        const std::uint64_t bytes = std::min(kSampleBytes, file_bytes - next_);
        const auto mapping = cache.blocks().mapping(column.spec.id, shard);
        if (mapping == nullptr || !mapping->tells_what_is_resident()) {
          is_told_ = false;
          return;
        }
        resident_ += mapping->resident_bytes(next_, bytes);
        looked_at_ += bytes;
      }
      next_ -= file_bytes;
    }
  }
  [[nodiscard]] std::optional<double> share() const {
    if (!is_told_ || looked_at_ == 0) return std::nullopt;
    return static_cast<double>(resident_) / static_cast<double>(looked_at_);
  }

 private:
  std::uint64_t next_ = 0;  // offset in the shard that comes next
  std::uint64_t resident_ = 0;
  std::uint64_t looked_at_ = 0;
  bool is_told_ = true;
};

std::string percent(double share) {
  return formatted("{} %", std::lround(share * 100));
}

}  // namespace

ReadingFacts find_reading_facts(const reader::CacheSet& caches, const BatchLayout& layout) {
  ReadingFacts facts;
  // What cannot be opened is told when its records are read.
  const auto for_each_column = [&](auto call) {
    for (std::size_t i = 0; i < caches.cache_count(); ++i) {
      for (const ColumnLayout& column : layout.columns) {
        const auto bytes = caches.file_bytes(*column.shared, i);
        if (bytes.ok()) call(i, *column.shared, *bytes);
      }
    }
  };
  for_each_column([&](std::size_t, const reader::SharedColumn&, std::uint64_t bytes) {
    facts.file_bytes += bytes;
  });
  const std::uint64_t apart = std::max(kSampleBytes, facts.file_bytes / kSamplesMax);
  ResidencySamples samples;
  for_each_column([&](std::size_t i, const reader::SharedColumn& column, std::uint64_t bytes) {
    if (!samples.looks_into(bytes)) return;
    const auto cache = caches.cache(i);
    const auto id = caches.column_id(column, i);
    if (cache.ok() && id.ok()) samples.look(**cache, (*cache)->manifest().columns[*id], apart);
  });
  facts.resident_share = samples.share();
  for (std::size_t i = 0; i < caches.cache_count(); ++i) {
    const auto storage = caches.storage(i);
    const StorageFacts found = storage.ok() ? *storage : StorageFacts();
    if (i == 0 || slowness(found.kind) > slowness(facts.storage.kind)) facts.storage = found;
  }
  const auto available = caches.env().available_memory_bytes();
  if (available.ok()) facts.available_memory_bytes = *available;
  return facts;
}

std::string storage_in_words(const ReadingFacts& facts) {
  const StorageFacts& storage = facts.storage;
  std::string text =
      storage.file_system.empty() ? "a file system unknown here" : storage.file_system;
  if (!storage.device.empty()) text += " on " + storage.device;
  text += formatted(" ({}), {}", words_of(storage.kind), size_in_words(facts.file_bytes));
  if (facts.resident_share)
    text += formatted(", {} of it in memory", percent(*facts.resident_share));
  return text;
}

ReadingChoice choose_reading(const ReadingFacts& facts, const ReaderOptions& options) {
  ReadingChoice choice;
  const StorageKind kind = facts.storage.kind;
  const bool seeks_cost = kind == StorageKind::kRotating || kind == StorageKind::kNetwork;
  const bool is_in_memory =
      kind == StorageKind::kMemory || facts.resident_share.value_or(0) >= kMostlyInMemory;
  const bool fits = facts.available_memory_bytes &&
                    static_cast<double>(facts.file_bytes) <=
                        kShareOfMemory * static_cast<double>(*facts.available_memory_bytes);
  if (seeks_cost && !is_in_memory && options.shuffle == Shuffle::kGlobal) {
    choice.notice = formatted(
        "shuffle global reads a {} at random places; shuffle window reads it in long runs",
        words_of(kind));
  }
  if (options.reading != Reading::kAuto) {
    choice.reading = options.reading;
    choice.why = "as asked for";
  } else if (options.shuffle == Shuffle::kWindow) {
    choice.why = "windows are read ahead into the page cache";
  } else if (options.shuffle == Shuffle::kNone) {
    choice.why = "batches in the cache's own order are shown where they lie";
  } else if (options.crop_frames > 0) {
    choice.why = "of crops, only their own pages are read in later epochs";
  } else if (is_in_memory) {
    choice.why = "the files are in memory, or most of them";
  } else if (fits) {
    choice.why = "the files fit into the memory that is free, and stay there for later epochs";
  } else if (seeks_cost) {
    choice.why = "what the page cache keeps need not be looked for again";
  } else {
    choice.reading = Reading::kDirect;
    choice.why = facts.available_memory_bytes
                     ? formatted("the files are too large for the {} of memory that are free",
                                 size_in_words(*facts.available_memory_bytes))
                     : "how much memory is free is not known";
  }
  return choice;
}

ReadingChoice fall_back(const ReadingChoice& choice, const Status& failure) {
  ReadingChoice other = choice;
  other.reading = Reading::kMapped;
  other.why = "reading past the page cache cannot be had here: " + failure.message();
  if (!other.notice.empty()) other.notice += "; ";
  other.notice += other.why;
  return other;
}

}  // namespace xtts::loader
