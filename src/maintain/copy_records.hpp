// Copies a sound column of a published cache into shards of another storage or another order. Each
// record is checked when it is read, converted if the dtype differs, then laid out and sealed as by
// a build. Memory: two shard images. One thread reads, one seals. Failures: kCorrupt (names the
// record), kCancelled, kResource.
#pragma once

#include <functional>
#include <vector>

#include "base/channel_norm.hpp"
#include "formats/block.hpp"
#include "maintain/published_clips.hpp"
#include "store/cache_folder.hpp"
#include "store/journal.hpp"

namespace xtts::maintain {

// Warnings that a change of dtype gave to clips, by their number in the plan.
using ClipWarnings = std::unordered_map<std::uint32_t, std::vector<formats::Reason>>;

struct CopyJob {
  reader::CacheView& from;
  const PublishedClips& clips;
  const formats::ColumnSpec& column;  // as the new storage has it
  std::uint64_t clips_per_shard = 1;
  formats::StoreKind store = formats::StoreKind::kLmdb;
  std::uint64_t generation = 1;
  const ChannelNorm* norm = nullptr;  // normalizes the true rows; null: they stay
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
  std::function<bool()> cancelled = {};
};

// Copies in planned order, as a first generation. The first column holds the facts of all columns
// and must be copied last: the other columns add to `warnings`, and the first one stores them.
[[nodiscard]] Result<std::vector<store::JournalShard>> copy_records(const CopyJob& job,
                                                                    store::CacheFolder& to,
                                                                    ClipWarnings& warnings);

}  // namespace xtts::maintain
