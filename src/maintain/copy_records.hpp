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

// What a change of dtype made odd about clips, by their number in the plan.
using ClipWarnings = std::unordered_map<std::uint32_t, std::vector<formats::Reason>>;

struct CopyJob {
  reader::CacheView& from;
  const PublishedClips& clips;
  const formats::ColumnSpec& column;  // as it will be, in this store
  std::uint64_t clips_per_shard = 1;
  formats::StoreKind store = formats::StoreKind::kLmdb;
  std::uint64_t generation = 1;
  const ChannelNorm* norm = nullptr;  // what becomes of the true rows; null: they stay
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
  std::function<bool()> cancelled = {};
};

// In planned order, as a generation without any before it. The first column holds the facts of all,
// and so is copied last: the others add to `warnings`, and it stores them.
[[nodiscard]] Result<std::vector<store::JournalShard>> copy_records(const CopyJob& job,
                                                                    store::CacheFolder& to,
                                                                    ClipWarnings& warnings);

}  // namespace xtts::maintain
