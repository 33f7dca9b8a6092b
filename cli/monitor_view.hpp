// A monitor's samples as lines, CSV, JSON and Prometheus' text format.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "probe/monitor.hpp"

namespace xtts::cli {

// The names of the columns, and one sample below them. Both end in a line end. The columns are
// those that `first`, the first sample, has values for.
[[nodiscard]] std::string monitor_header(const probe::MonitorSample& first);
[[nodiscard]] std::string monitor_line(const probe::MonitorSample& sample,
                                       const probe::MonitorSample& first);

[[nodiscard]] std::string monitor_csv_header(const probe::MonitorSample& first);
[[nodiscard]] std::string monitor_csv_line(const probe::MonitorSample& sample,
                                           const probe::MonitorSample& first);

[[nodiscard]] nlohmann::json monitor_to_json(const probe::MonitorSample& sample);
// For a textfile collector: one file that is replaced with each sample.
[[nodiscard]] std::string monitor_to_prometheus(const probe::MonitorSample& sample);

// The verdict over all samples: how evenly the first GPU works, in the users' words, or that there
// is none; where it swings, the period.
struct MonitorVerdict {
  std::string text;
  std::optional<double> mean, std;  // of the GPU's utilization, percent
  std::optional<double> period_s;   // of its swings
  std::string level;                // "good", "acceptable", "bad"; empty: no GPU
};
[[nodiscard]] MonitorVerdict judge_samples(const std::vector<probe::MonitorSample>& samples,
                                           const std::string& no_gpu);

}  // namespace xtts::cli
