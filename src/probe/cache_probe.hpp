// Measures how fast batches come from a cache: the user's own, or one that is made of a sample of
// DATA for this measurement and removed again.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "pipeline/build_request.hpp"
#include "probe/storage_probe.hpp"

namespace xtts::probe {

struct CacheMeasurement {
  std::vector<double> clips_per_s;  // of each round, files in memory
  std::vector<double> batch_ms;     // one batch after another, in the order they came
  double cpu_ms_per_clip = 0.0;
  Digest features_fingerprint;
  std::uint64_t clip_count = 0;
  std::uint64_t record_bytes = 0;  // of all columns, padded
  std::uint64_t shard_bytes = 0;   // of all shards: what an epoch reads
  std::vector<Extent> extents;     // records' places, in random order, for measure_storage()
};

struct CacheQuestion {
  std::string cache;
  std::uint32_t batch_size = 32;
  std::uint32_t thread_count = 1;
  std::uint64_t batch_count = 200;
  std::function<bool()> cancelled = {};
};

// Failures: as a reader's.
[[nodiscard]] Result<CacheMeasurement> measure_cache(Env& env, const CacheQuestion& question);

// Builds a cache of about `clip_count` clips of DATA in `folder`, which must not exist.
// `request` is that of a build of DATA, without a cache. Failures: as a build's.
[[nodiscard]] Status build_sample(Env& env, pipeline::BuildRequest request,
                                  const std::string& folder, std::uint64_t clip_count,
                                  std::uint64_t clips_in_data,
                                  const std::function<bool()>& cancelled);

}  // namespace xtts::probe
