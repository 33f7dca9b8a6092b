// A profile that xp.StepProfiler or `xtts-precompute profile --json` has written: what the user's
// own training step takes, and what data costs it.
#pragma once

#include <optional>
#include <string>

#include "base/env.hpp"
#include "doctor/range.hpp"

namespace xtts::doctor {

struct ProfileFacts {
  std::optional<Range> step_ms;  // with data for free
  // Of the user's own loading; unset where the profile is of a cache (`profile CACHE`).
  std::optional<Range> real_step_ms;
  std::optional<double> data_share;  // of the real step
  std::optional<std::uint32_t> batch_size;
  bool is_on_cpu = false;  // the profile says that its steps ran on the CPU
  std::optional<double> gpu_utilization, gpu_utilization_std;  // percent
};

// kNotFound, kInvalidArgument: no such file, or no profile.
[[nodiscard]] Result<ProfileFacts> read_profile(Env& env, const std::string& path);

}  // namespace xtts::doctor
