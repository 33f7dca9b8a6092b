// Judges the trainer's config.yaml: keys and values that the trainer does not take, then the table
// of config_rules.hpp, then whether a cache is the one that this file asks for. Free functions;
// share freely.
//
// Failures: kNotFound, kResource, and kInvalidArgument or kUnsupported for a file that cannot be
// judged (not YAML, several documents, merge keys, not the trainer's).
#pragma once

#include <string>
#include <string_view>

#include "base/env.hpp"
#include "doctor/check.hpp"
#include "doctor/config_facts.hpp"

namespace xtts::doctor {

// The GPU by a name or size; empty: what the driver tells, if anything. kInvalidArgument: no such
// GPU.
[[nodiscard]] Result<ConfigSituation> find_situation(Env& env, const std::string& gpu);

// One Check named "configuration". The place of a finding is "config.yaml:LINE".
[[nodiscard]] Result<Check> check_config(Env& env, const std::string& path,
                                         const ConfigSituation& situation);
// Judges a text. `origin` names it in messages. With a cache in `situation`, `origin` is a path:
// the features that it asks for are read from there.
[[nodiscard]] Result<Check> check_config_text(Env& env, std::string_view text,
                                              const std::string& origin,
                                              const ConfigSituation& situation);

}  // namespace xtts::doctor
