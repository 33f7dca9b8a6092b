// Copies a column of sound of a published cache into shards of another storage or another order:
// each record checked when it is read, converted where the dtype differs, laid out and sealed as a
// build would. Two shard images of memory; one thread reads, one seals. Failures: kCorrupt (names
// the record), kCancelled, kResource.
#pragma once

#include <functional>
#include <vector>

#include "base/channel_norm.hpp"
#include "formats/block.hpp"
#include "maintain/published_clips.hpp"
#include "store/cache_folder.hpp"
#include "store/journal.hpp"

namespace xtts::maintain {

struct CopyJob {
  reader::CacheView& from;
  const PublishedClips& clips;
  const formats::ColumnSpec& column;  // as it will be, in this store
  std::uint64_t clips_per_shard = 1;
  formats::StoreKind store = formats::StoreKind::kLmdb;
  const ChannelNorm* norm = nullptr;  // what becomes of the true rows; null: they stay
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
  std::function<bool()> cancelled = {};
};

// In planned order, as the first generation of a cache.
[[nodiscard]] Result<std::vector<store::JournalShard>> copy_records(const CopyJob& job,
                                                                    store::CacheFolder& to);

}  // namespace xtts::maintain
