// Judges what stands in a config.yaml before any rule does: keys that the trainer does not have,
// keys that stand twice or elsewhere, values of another type, tabs. Pure function.
#pragma once

#include <string_view>
#include <vector>

#include "doctor/check.hpp"
#include "doctor/config_facts.hpp"

namespace xtts::doctor {

// Stands for a value that no report shows.
inline constexpr const char* kNotShown = "(not shown)";

// `text`: what `facts` was read from.
[[nodiscard]] std::vector<Finding> judge_keys(const ConfigFacts& facts, std::string_view text);

// A change of `key` over what the file has, for findings. An empty `after` makes a comment of it.
[[nodiscard]] ConfigChange change_of(const ConfigFacts& facts, std::string_view key,
                                     std::string_view after, std::string_view reason);

}  // namespace xtts::doctor
