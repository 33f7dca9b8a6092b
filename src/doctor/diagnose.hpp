// diagnose(): runs all checks that the given data, cache, configuration and code allow, and ranks
// what they found. It reads and measures; it changes nothing that it looks at. A sample cache is
// built in the scratch folder and removed again.
//
// One thread at a time; it starts threads and processes of its own. A check whose measurement
// fails says "cannot tell" and why. Failures of the whole: kCancelled, kInvalidArgument and
// kNotFound (what was named is not there).
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "doctor/check.hpp"
#include "doctor/range.hpp"
#include "pipeline/build_request.hpp"

namespace xtts::doctor {

struct DoctorRequest {
  std::optional<pipeline::BuildRequest> build = {};  // of DATA, without a cache; unset: no DATA
  std::string cache = {};                            // empty: none
  std::string profile = {};                          // a file of StepProfiler; empty: none
  std::string trace = {};                            // a report of trace; empty: none
  std::string code = {};                             // the trainer's folder; empty: none
  std::string config = {};                           // the trainer's config.yaml; empty: none
  std::string recipe_words = {};  // "--recipe hifigan", for commands; may be empty
  std::string python = {};        // empty: the one on PATH
  // What the adviser says of `config` (configuration_check.hpp); unset: nobody asked it.
  std::optional<Result<nlohmann::json>> judged_config = {};
  bool runs_frameworks = true;  // takes up to 40 s
  std::uint32_t batch_size = 32;
  std::optional<double> step_ms = {};  // of the user's training step, without waiting for data
  bool trains_on_cpu = false;
  std::optional<std::uint32_t> worker_count = {};  // of the trainer's loader; unset: not known
  std::string scratch_folder = {};                 // exists
  std::string writable_folder = {};                // where a sync is timed; empty: nowhere
  std::function<bool()> cancelled = {};
  std::function<void(const std::string& step)> on_step = {};  // "reading the storage of ./data"
};

struct Diagnosis {
  std::vector<Check> checks;
  std::vector<std::string> machine;  // facts in words, for the head of a report
  std::string config;                // the configuration that was judged; empty: none
};

[[nodiscard]] Result<Diagnosis> diagnose(Env& env, const DoctorRequest& request);

}  // namespace xtts::doctor
