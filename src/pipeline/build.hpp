// build: makes a published cache from DATA and a recipe, or continues or updates the cache that is
// there (README.md beside this file).
//
// One build at a time on a cache (the folder's lock). The build calls the observer while it runs
// (build_observer.hpp). Failures: kInvalidArgument, kNotFound (DATA), kMismatch (another recipe,
// with the differences), kBusy, kResource, kTooManyRejects, kCancelled (sealed work is kept),
// kCorrupt (the published cache is damaged), kInternal.
#pragma once

#include "pipeline/build_report.hpp"
#include "xtts/status.hpp"

namespace xtts {
class Env;
}

namespace xtts::pipeline {

class BuildObserver;
struct BuildRequest;

[[nodiscard]] Result<BuildReport> build(Env& env, const BuildRequest& request,
                                        BuildObserver& observer);

}  // namespace xtts::pipeline
