// Measuring a reader: how fast and how evenly batches come, once in clips that this process has not
// seen yet (each is verified), and once more. The consumer does the least that a consumer can do:
// it looks at one byte of every page. Failures: as Loader; kCancelled.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reader/cache_view.hpp"
#include "xtts/batch.hpp"
#include "xtts/status.hpp"

namespace xtts::loader {

struct MeasureOptions {
  ReaderOptions reader;
  std::uint64_t batch_count = 100;  // of each pass; epochs follow one another as often as it takes
  std::function<bool()> cancelled = {};
};

struct MeasuredPass {
  std::vector<double> batch_ms;  // from one batch to the next, beginnings of epochs included
  std::uint64_t sample_count = 0;
  std::uint64_t bytes = 0;  // of true rows
  double seconds = 0.0;
  double waited_s = 0.0;  // by the consumer
};

struct Measured {
  MeasuredPass first;
  MeasuredPass again;
  std::string storage, reading, notice;  // as in ReaderStats
};

// `cache`: opened for this, so that nothing of it is verified yet.
[[nodiscard]] Result<Measured> measure(const std::shared_ptr<reader::CacheView>& cache,
                                       const MeasureOptions& options);

// Asks the kernel to forget the cache's shard files, so that they come from the disk again. Pages
// that somebody has mapped or written stay.
[[nodiscard]] Status drop_from_memory(const std::string& cache, const formats::Manifest& manifest);

}  // namespace xtts::loader
