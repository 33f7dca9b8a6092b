// What `diff` found, for people and as JSON. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "maintain/diff.hpp"

namespace xtts::cli {

struct DiffQuestion {
  std::string a, b;  // as they were given
  std::optional<double> tolerance;
  double seconds = 0.0;
};

// The two caches, and what their manifests say differently.
[[nodiscard]] std::string describe_caches(const DiffQuestion& question,
                                          const maintain::DiffReport& report);
// Clip by clip, as far as they are kept; empty where there is none.
[[nodiscard]] std::string describe_differences(const maintain::DiffReport& report);
// Counts, and how far the numbers of each column are apart.
[[nodiscard]] std::string describe_outcome(const DiffQuestion& question,
                                           const maintain::DiffReport& report);
[[nodiscard]] nlohmann::json diff_to_json(const DiffQuestion& question,
                                          const maintain::DiffReport& report);

}  // namespace xtts::cli
