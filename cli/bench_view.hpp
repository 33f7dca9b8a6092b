// What `bench` measured, in words and as JSON. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "loader/measure.hpp"
#include "report/batch_times.hpp"

namespace xtts::cli {

struct BenchRun {
  std::uint32_t batch_size = 0;
  std::uint32_t thread_count = 0;
  loader::Measured measured;
};

struct BenchQuestion {
  std::string cache;
  std::string shuffle;
  bool is_cold = false;    // the first pass is the answer: the second is no longer cold
  bool is_packed = false;  // the mels, or the column in their place
  bool is_half = false;    // 2 bytes a value
};

// Recommends a run. Among the runs within a tenth of the fastest, it takes the one with the fewest
// threads, then the smallest batch.
[[nodiscard]] const BenchRun& choose_run(const BenchQuestion& question,
                                         const std::vector<BenchRun>& runs);
// The pass that answers the question.
[[nodiscard]] const loader::MeasuredPass& pass_of(const BenchQuestion& question,
                                                  const BenchRun& run);

[[nodiscard]] std::string describe_bench(const BenchQuestion& question,
                                         const std::vector<BenchRun>& runs);
[[nodiscard]] nlohmann::json bench_to_json(const BenchQuestion& question,
                                           const std::vector<BenchRun>& runs);

}  // namespace xtts::cli
