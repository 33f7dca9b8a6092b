// Partition: the share of a plan that one of several builds computes. It deals out whole planned
// shards, so merge can join what the builds have sealed without reading it. Every machine deals
// alike: by clips, sources and their sizes, never by times or inodes. Pure functions.
#pragma once

#include "pipeline/build_plan.hpp"
#include "pipeline/partition_choice.hpp"

namespace xtts::pipeline {

// The digest of all clips of all parts, and of what the rules make of their texts.
[[nodiscard]] Digest digest_of_all_clips(const BuildPlan& plan);

// Marks the clips of `plan` that other parts make as kElsewhere. All clips must be kCompute or
// kRejected before. The largest shard is dealt first, always to the part with the fewest bytes of
// sources so far.
void assign_to_other_parts(BuildPlan& plan, const PartitionChoice& choice,
                           std::size_t clips_per_shard);

}  // namespace xtts::pipeline
