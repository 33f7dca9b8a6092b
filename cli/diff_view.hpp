// The differences that `diff` found, for people and as JSON. Pure functions.
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

// Describes the two caches, and the differences between their manifests.
[[nodiscard]] std::string describe_caches(const DiffQuestion& question,
                                          const maintain::DiffReport& report);
// Lists the differences that the report keeps, clip by clip. Empty where there is none.
[[nodiscard]] std::string describe_differences(const maintain::DiffReport& report);
// Gives the counts, and the distance between the numbers of each column.
[[nodiscard]] std::string describe_outcome(const DiffQuestion& question,
                                           const maintain::DiffReport& report);
[[nodiscard]] nlohmann::json diff_to_json(const DiffQuestion& question,
                                          const maintain::DiffReport& report);

}  // namespace xtts::cli
