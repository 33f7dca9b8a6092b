// Turns a verify's options, as the command line and code write them, into verify::Options without
// callbacks. Reads the files that the options name, and the place where the last build found its
// sources. Runs on the calling thread. Failures: kInvalidArgument (also an option that would be
// ignored), kNotFound.
#pragma once

#include <string>

#include "base/env.hpp"
#include "request/build_options.hpp"
#include "verify/verify.hpp"
#include "xtts/builder.hpp"
#include "xtts/status.hpp"

namespace xtts::request {

[[nodiscard]] Result<verify::Options> settings_of(Env& env, const VerifyOptions& options,
                                                  const Caller& caller);

}  // namespace xtts::request
