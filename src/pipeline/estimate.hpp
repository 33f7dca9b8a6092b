// What a person wants to know before a build begins: hours, sizes, time as a range, and how many
// clips are too long for the recipe. A sample of the clips that are left to compute is decoded and
// measured (clip_sample.hpp); the others are told from their kind and size, segments from their
// list.
//
// Cost: kShare takes at most 2 % of the time that the build will take, as far as a sample of one
// file tells, and none at all where the build is too short for that; kFixed takes half a second, or
// two where few clips are measured by then.
#pragma once

#include "base/env.hpp"
#include "formats/block.hpp"

namespace xtts::pipeline {

struct BuildPreview;
struct BuildRequest;
struct Plan;

enum class SampleBudget : std::uint8_t { kShare, kFixed };

// Fills in what of `preview` is told from a sample. `preview.sealed_count` is set: those clips are
// done. Best effort: a clip of the sample that fails is left out.
void estimate(Env& env, const Plan& plan, const BuildRequest& request, SampleBudget budget,
              BuildPreview& preview);

}  // namespace xtts::pipeline
