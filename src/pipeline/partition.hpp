// Partition: the share of a plan that one of several builds does. Whole planned shards are dealt
// out, so that merge joins what the builds have sealed without reading it, and every machine deals
// alike: by clips, sources and their sizes, never by times or inodes. Pure functions.
#pragma once

#include "pipeline/plan.hpp"

namespace xtts::pipeline {

// Of all clips of all parts, and what the rules make of their texts.
[[nodiscard]] Digest digest_of_all_clips(const Plan& plan);

// Of `plan`, whose clips are all to be computed or rejected, the others' become kElsewhere. The
// largest shard goes first, always to the part with the fewest bytes of sources so far.
void leave_to_others(Plan& plan, const PartitionChoice& choice, std::size_t clips_per_shard);

}  // namespace xtts::pipeline
