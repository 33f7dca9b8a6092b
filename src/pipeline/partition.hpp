// Partition: the share of a plan that one of several builds computes. It deals out whole planned
// shards, in runs: so merge can join what the builds have sealed without reading it, and the parts
// read one after the other are in canonical order. Every machine deals
// alike: by clips, sources and their sizes, never by times or inodes. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pipeline/build_plan.hpp"
#include "pipeline/partition_choice.hpp"

namespace xtts::pipeline {

// The digest of all clips of all parts, and of what the rules make of their texts.
[[nodiscard]] Digest digest_of_all_clips(const BuildPlan& plan);

// Bytes of sources in planned shards; an empty source counts as one byte.
struct ShardBytes {
  std::uint64_t before = 0;  // of all shards before it
  std::uint64_t own = 0;
  std::uint64_t total = 0;  // of all shards
};
// The part (1 ... `part_count`) that makes the shard: the one whose equal share of all bytes holds
// the middle of the shard. So each part is a run of shards, and parts differ by a shard at most.
[[nodiscard]] std::uint32_t part_of_shard(const ShardBytes& shard, std::uint32_t part_count);

// Marks the clips of `plan` that other parts make as kElsewhere. All clips must be kCompute or
// kRejected before.
void assign_to_other_parts(BuildPlan& plan, const PartitionChoice& choice,
                           std::size_t clips_per_shard);

}  // namespace xtts::pipeline
