#include "pipeline/partition.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "pipeline/plan_hasher.hpp"

namespace xtts::pipeline {
namespace {

struct PlannedShard {
  std::vector<std::size_t> clips;
  std::uint64_t source_bytes = 0;
};

// Makes shards as the build will fill them: in order, with all clips that are not known to be
// rejected.
std::vector<PlannedShard> planned_shards(const BuildPlan& plan, std::size_t clips_per_shard) {
  std::vector<PlannedShard> shards;
  std::unordered_set<std::string_view> sources;  // each is counted once, for all its segments
  for (std::size_t i = 0; i < plan.clips.size(); ++i) {
    if (plan.clips[i].fate != ClipFate::kCompute) continue;
    if (shards.empty() || shards.back().clips.size() == clips_per_shard) {
      shards.emplace_back();
      sources.clear();
    }
    const corpus::Clip& clip = plan.corpus.clips[i];
    shards.back().clips.push_back(i);
    // An empty source counts as one byte, so that shards of empty sources are dealt out too.
    if (!clip.segment || sources.insert(clip.source).second)
      shards.back().source_bytes += std::max<std::uint64_t>(clip.source_bytes, 1);
  }
  return shards;
}

}  // namespace

std::uint32_t part_of_shard(const ShardBytes& shard, std::uint32_t part_count) {
  // Twice the place of its middle byte, so that halves are whole numbers.
  __extension__ using Wide = unsigned __int128;
  const Wide middle = static_cast<Wide>(shard.before) * 2 + shard.own;
  // One less, so that a middle between two parts belongs to the first: a single shard to part 1.
  return static_cast<std::uint32_t>((middle * part_count - 1) / 2 / shard.total) + 1;
}

Digest digest_of_all_clips(const BuildPlan& plan) {
  PlanHasher hasher;
  for (std::size_t i = 0; i < plan.clips.size(); ++i) {
    hasher.add_planned(plan.corpus.clips[i], plan.clips[i].fate == ClipFate::kRejected);
  }
  return hasher.finish();
}

void assign_to_other_parts(BuildPlan& plan, const PartitionChoice& choice,
                           std::size_t clips_per_shard) {
  const auto shards = planned_shards(plan, clips_per_shard);
  std::uint64_t total_bytes = 0;
  for (const PlannedShard& shard : shards) total_bytes += shard.source_bytes;
  std::uint64_t bytes_before = 0;
  for (const PlannedShard& shard : shards) {
    const std::uint32_t part =
        part_of_shard({bytes_before, shard.source_bytes, total_bytes}, choice.count);
    bytes_before += shard.source_bytes;
    if (part == choice.index) continue;
    for (const std::size_t clip : shard.clips) plan.clips[clip].fate = ClipFate::kElsewhere;
  }
}

}  // namespace xtts::pipeline
