// Options of a build that makes a part of a plan: what the plan decides is taken from it, and an
// option that would decide it anew is refused. Reads plan.json, and the corpora.yaml that DATA may
// be here. Failures: kInvalidArgument, those of pipeline::open_part(), and kMismatch where this
// processor lacks the plan's instruction set.
#pragma once

#include "base/env.hpp"
#include "xtts/builder.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {
struct Plan;
}
namespace xtts::pipeline {
struct BuildRequest;
}

namespace xtts::request {

// Sets recipe, names, folders, instruction set and the part of `request`.
[[nodiscard]] Status take_part(Env& env, const BuildOptions& options,
                               pipeline::BuildRequest& request);

// `options` with the limits of the plan, where they name none but the usual ones.
[[nodiscard]] BuildOptions with_limits_of(const formats::Plan& plan, BuildOptions options);

}  // namespace xtts::request
