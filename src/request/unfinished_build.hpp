// The values that a build without a recipe takes from the unfinished build in its place, so that
// the command that goes on with it is short. Reads the journal, without a lock. Failures:
// kResource.
#pragma once

#include <string>

#include "base/env.hpp"
#include "pipeline/build_request.hpp"
#include "xtts/builder.hpp"
#include "xtts/status.hpp"

namespace xtts::request {

// Takes recipe, folders and speakers of the unfinished build, where the caller names neither recipe
// nor configuration. False: there is none to go on with.
[[nodiscard]] Result<bool> take_unfinished(Env& env, const BuildOptions& options,
                                           pipeline::BuildRequest& request);

// " --isa scalar --max-gone 10%": numerics and limits, where they are not the default.
[[nodiscard]] std::string lasting_options(const BuildOptions& options);
// The command of these options, to be pasted.
[[nodiscard]] std::string build_command(const BuildOptions& options);

}  // namespace xtts::request
