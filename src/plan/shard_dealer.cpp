#include "plan/shard_dealer.hpp"

#include <algorithm>

#include "pipeline/partition.hpp"

namespace xtts::plan {

void ShardDealer::measure(const corpus::Clip& clip, Verdict verdict) {
  const std::uint64_t number = computed_count_ / clips_per_shard_;
  if (number == shards_.size()) {
    shards_.emplace_back();
    sources_.clear();
  }
  Shard& shard = shards_.back();
  ++shard.clip_count;
  if (verdict == Verdict::kRefusedText) return;
  ++computed_count_;
  // As partition.cpp counts: an empty source is one byte, and a source counts once for all its
  // segments.
  if (!clip.segment || sources_.emplace(clip.source.view()).second)
    shard.source_bytes += std::max<std::uint64_t>(clip.source_bytes, 1);
}

std::vector<formats::PlanPart> ShardDealer::deal() {
  // Clips that are refused behind the last whole shard make no shard of their own.
  const std::uint64_t shard_count = (computed_count_ + clips_per_shard_ - 1) / clips_per_shard_;
  if (shard_count > 0 && shards_.size() > shard_count) {
    shards_[shard_count - 1].clip_count += shards_.back().clip_count;
    shards_.pop_back();
  }
  std::uint64_t total_bytes = 0;
  for (const Shard& shard : shards_) total_bytes += shard.source_bytes;
  std::vector<formats::PlanPart> parts(part_count_);
  std::uint64_t bytes_before = 0;
  for (const Shard& shard : shards_) {
    const std::uint32_t number =
        shard_count == 0
            ? 1
            : pipeline::part_of_shard({bytes_before, shard.source_bytes, total_bytes}, part_count_);
    bytes_before += shard.source_bytes;
    formats::PlanPart& part = parts[number - 1];
    part.clip_count += shard.clip_count;
    part.shard_count += shard_count > 0 ? 1 : 0;
    part.source_bytes += shard.source_bytes;
  }
  return parts;
}

}  // namespace xtts::plan
