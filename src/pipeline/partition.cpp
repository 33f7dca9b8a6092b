#include "pipeline/partition.hpp"

#include <algorithm>
#include <numeric>
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
    if (!clip.segment || sources.insert(clip.source).second)
      shards.back().source_bytes += clip.source_bytes;
  }
  return shards;
}

}  // namespace

Digest digest_of_all_clips(const BuildPlan& plan) {
  PlanHasher hasher;
  for (std::size_t i = 0; i < plan.clips.size(); ++i) {
    hasher.add_content(plan.corpus.clips[i]);
    hasher.add_number(plan.clips[i].fate == ClipFate::kRejected);
  }
  return hasher.finish();
}

void assign_to_other_parts(BuildPlan& plan, const PartitionChoice& choice,
                           std::size_t clips_per_shard) {
  const auto shards = planned_shards(plan, clips_per_shard);
  std::vector<std::size_t> largest_first(shards.size());
  std::iota(largest_first.begin(), largest_first.end(), std::size_t{0});
  std::ranges::stable_sort(largest_first, [&](std::size_t a, std::size_t b) {
    return shards[a].source_bytes > shards[b].source_bytes;
  });
  std::vector<std::uint64_t> bytes_of_part(choice.count, 0);
  for (const std::size_t shard : largest_first) {
    const auto least = std::ranges::min_element(bytes_of_part);
    // An empty source counts as one byte, so that shards of empty sources are dealt out too.
    *least += std::max<std::uint64_t>(shards[shard].source_bytes, 1);
    if (least - bytes_of_part.begin() + 1 == choice.index) continue;
    for (const std::size_t clip : shards[shard].clips) plan.clips[clip].fate = ClipFate::kElsewhere;
  }
}

}  // namespace xtts::pipeline
