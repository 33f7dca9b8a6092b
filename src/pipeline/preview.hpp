// What a person is told before a build begins: counts of the plan, what its rules drop already,
// and, where somebody reads it, the estimate.
#pragma once

#include "base/env.hpp"
#include "pipeline/build_observer.hpp"

namespace xtts::pipeline {

struct BuildRequest;
struct Plan;

// `published_count`: clips in the cache as it is. `sealed_count`: of the clips to compute, done by
// the interrupted build before.
[[nodiscard]] BuildPreview preview_of(Env& env, const Plan& plan, const BuildRequest& request,
                                      std::uint64_t published_count, std::uint64_t sealed_count,
                                      bool wants_estimate);

}  // namespace xtts::pipeline
