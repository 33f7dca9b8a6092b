// Mends the trainer's config.yaml by the changes that check_config() finds. Free function; share
// freely. Failures: those of config_check.hpp and config_file.hpp, and kInvalidArgument for a file
// with far more faults than the trainer has keys.
#pragma once

#include <string>
#include <vector>

#include "base/env.hpp"
#include "doctor/check.hpp"
#include "doctor/config_facts.hpp"

namespace xtts::doctor {

struct ConfigFix {
  Check check = {};  // of the file as it is now
  // What was changed, in the order of the findings. An empty `after`: the line became a comment.
  std::vector<ConfigChange> changes = {};
  std::vector<std::string> refused = {};  // changes that the file's form does not allow, in words
  std::string backup = {};                // the path of the old file; empty: nothing was changed
};

// Writes the changes of all findings. The file is replaced at once and keeps its permissions. The
// old file stays beside it, as FILE.bak, .bak.1 and so on. A link stays, and its target is changed.
// After a failure the file is as it was.
[[nodiscard]] Result<ConfigFix> fix_config(Env& env, const std::string& path,
                                           const ConfigSituation& situation);

}  // namespace xtts::doctor
