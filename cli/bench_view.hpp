// The results of `bench`, in words and as JSON. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/bench_sweep.hpp"
#include "loader/measure.hpp"
#include "report/batch_times.hpp"

namespace xtts::cli {

struct BenchRun {
  std::uint32_t batch_size = 0;
  std::uint32_t thread_count = 0;
  std::uint32_t slot_count = ReaderOptions{}.slot_count;
  loader::Measured measured;
};

// One setting of a sweep. `pass` holds all of its rounds.
struct SweepRun {
  SweepSetting setting = {};
  loader::MeasuredPass pass = {};
  SweepTimes batch_ms = {};
};

struct BenchSweep {
  std::vector<SweepRun> runs = {};  // empty: no sweep was asked for
  SweepChoice choice = {};
  std::size_t round_count = 0;
  std::vector<std::string> left_out = {};
};

struct BenchQuestion {
  std::string cache;
  std::string shuffle;
  bool is_cold = false;    // the first pass is the answer: the second is no longer cold
  bool is_packed = false;  // the mels, or the column in their place
  bool is_half = false;    // 2 bytes a value
};

// The pass that answers the question.
[[nodiscard]] const loader::MeasuredPass& pass_of(const BenchQuestion& question,
                                                  const BenchRun& run);

// `run` is the one that was asked for, or the one that the sweep recommends. The times are data,
// and the advice is what we make of them.
[[nodiscard]] std::string describe_bench(const BenchQuestion& question, const BenchRun& run,
                                         const BenchSweep& sweep = {});
[[nodiscard]] std::string bench_advice(const BenchQuestion& question, const BenchRun& run,
                                       const BenchSweep& sweep = {});
[[nodiscard]] nlohmann::json bench_to_json(const BenchQuestion& question, const BenchRun& run,
                                           const BenchSweep& sweep = {});

}  // namespace xtts::cli
