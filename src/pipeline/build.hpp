// build: DATA and a recipe -> a published cache; continues or updates what is there (README.md
// beside this file).
//
// One build at a time on a cache (the folder's lock). The observer is told from inside
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
