// Finds published clips that the corpus no longer names: vanished ones, ones that are no longer
// chosen, and renamed ones. It reads the details of these clips and hashes new sources of the same
// size. One thread at a time.
#pragma once

#include "pipeline/build_plan.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

// Fills in gone_count, vanished_count, vanished_examples, and copied_from of clips to compute. The
// fates are already decided, and `request.previous` is set.
[[nodiscard]] Status find_gone_clips(const PlanRequest& request, BuildPlan& plan);

}  // namespace xtts::pipeline
