// The estimate before a build begins: hours, sizes, time as a range, and how many clips are too
// long for the recipe. It decodes and measures a sample of the clips that are left to compute
// (clip_sample.hpp). It estimates the other clips from their kind and size, and segments from their
// list.
//
// With `engines` (null: the CPU's), kFixed also measures how much of the CPU's time the features
// take: a device can save no more.
//
// Cost: kShare takes at most 2 % of the expected build time, judged by a sample of one file, and
// nothing if the build is too short for that. kFixed takes half a second, or two seconds if few
// clips are measured by then, and as much again with `engines`.
#pragma once

#include <memory>

#include "base/env.hpp"
#include "dsp/frame_engine.hpp"
#include "formats/block.hpp"

namespace xtts::pipeline {

struct BuildPreview;
struct BuildRequest;
struct BuildPlan;

enum class SampleBudget : std::uint8_t { kShare, kFixed };

// Fills in the estimated fields of `preview`. `preview.sealed_count` is set: those clips are done.
// Best effort: a clip of the sample that fails is left out.
void estimate(Env& env, const BuildPlan& plan, const BuildRequest& request, SampleBudget budget,
              const std::shared_ptr<const dsp::FrameEngines>& engines, BuildPreview& preview);

}  // namespace xtts::pipeline
