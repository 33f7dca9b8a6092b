// The findings of the probes, as the JSON that the adviser reads. README.md of this folder names
// the members; an unknown one is null. Nothing is judged here.
//
// One thread at a time; they start threads and processes of their own. Failures: kCancelled, and
// those that are named.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "base/env.hpp"
#include "pipeline/build_request.hpp"

namespace xtts::probe {

// The inputs of a measurement, and the calls by which it reports.
struct Run {
  std::string scratch_folder = {};   // exists
  std::string writable_folder = {};  // where a sync is timed; empty: nowhere
  std::uint32_t batch_size = 32;
  std::function<bool()> cancelled = {};
  std::function<void(const std::string& step)> on_step = {};  // "reading the storage of ./data"

  void begin(const std::string& step) const {
    if (on_step) on_step(step);
  }
};

struct CorpusQuestion {
  pipeline::BuildRequest build;     // of DATA, without a cache
  std::uint32_t worker_count = 8;   // of the loader that is measured beside
  bool builds_sample_cache = true;  // in the scratch folder, from which it goes again
};

[[nodiscard]] nlohmann::json machine_numbers(Env& env);

// Formats, storage, clips computed on the fly, and a cache of a sample. Failures: as a build's
// before it computes. A sample cache that cannot be built is no failure.
[[nodiscard]] Result<nlohmann::json> corpus_numbers(Env& env, const CorpusQuestion& question,
                                                    const Run& run);

// How fast batches come from a cache, and from its storage. Failures: as a reader's.
[[nodiscard]] Result<nlohmann::json> cache_numbers(Env& env, const std::string& cache,
                                                   const Run& run);

}  // namespace xtts::probe
