// What a person wants to know before a build begins: hours, sizes, time. A sample of the clips to
// compute (at most 24, evenly spaced, at most a third of a second) is decoded and measured; the
// rest is told from the sources' sizes.
#pragma once

#include "base/env.hpp"
#include "formats/block.hpp"
#include "pipeline/build.hpp"
#include "pipeline/plan.hpp"

namespace xtts::pipeline {

// Fills in sound_seconds, build_seconds and storage. Best effort: a sample that fails is left out.
void estimate(Env& env, const Plan& plan, const BuildRequest& request, BuildPreview& preview);

}  // namespace xtts::pipeline
