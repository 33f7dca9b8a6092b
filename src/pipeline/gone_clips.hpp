// Clips of the published cache that the corpus names no more: which have vanished, which were not
// chosen any more, and which are there by another name. Reads details of the gone clips and hashes
// sources that may be theirs: new ones of the same size. One thread at a time.
#pragma once

#include "pipeline/plan.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

// Fills in gone_count, vanished_count, vanished_examples and copied_from of clips to compute, once
// the fates are decided. `request.previous` is set.
[[nodiscard]] Status find_gone_clips(const PlanRequest& request, Plan& plan);

}  // namespace xtts::pipeline
