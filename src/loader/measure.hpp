// Measures how fast and how evenly a reader's batches come. The first pass reads clips that this
// process has not seen yet, so each is verified. The second pass reads them again. The consumer
// does as little as a consumer can: it looks at one byte of every page. Failures: as Loader's, and
// kCancelled.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/cache_set.hpp"
#include "xtts/batch.hpp"
#include "xtts/gpu.hpp"
#include "xtts/status.hpp"

namespace xtts::loader {

struct MeasureOptions {
  ReaderOptions reader;
  std::uint64_t batch_count = 100;  // of each pass, in as many epochs as it takes
  std::function<bool()> cancelled = {};
};

struct MeasuredPass {
  std::vector<double> batch_ms;  // from one batch to the next, also over an epoch's beginning
  std::uint64_t sample_count = 0;
  std::uint64_t bytes = 0;  // of true rows
  double seconds = 0.0;
  double waited_s = 0.0;  // how long the consumer waited
  // The use of the GPU meanwhile, if batches are consumed on one. It has no sample where it could
  // not be asked.
  std::optional<GpuUse> gpu;
};

struct Measured {
  MeasuredPass first;
  MeasuredPass again;
  std::string storage, reading, notice;  // as in ReaderStats
};

// `caches` were opened for this call, so that none of their records is verified yet.
[[nodiscard]] Result<Measured> measure(const std::shared_ptr<reader::CacheSet>& caches,
                                       const MeasureOptions& options);

// One pass of a comparison. The first batches, as many as there are slots, do not count: they were
// filled ahead. Then come at least three batches, until `seconds_max` is over or `batch_count` is
// reached. `caches` may have been used before.
[[nodiscard]] Result<MeasuredPass> measure_round(const std::shared_ptr<reader::CacheSet>& caches,
                                                 const MeasureOptions& options, double seconds_max);

// Asks the kernel to forget the shard files, so that they come from the disk again. It keeps pages
// that somebody has mapped or written.
[[nodiscard]] Status drop_from_memory(const reader::CacheSet& caches);

}  // namespace xtts::loader
