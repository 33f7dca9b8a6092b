// What a batch takes: raw audio on the fly, a cache, and a source that costs nothing, side by side.
// Pure.
#pragma once

#include <cstdint>
#include <string>

#include "doctor/cache_probe.hpp"
#include "doctor/check.hpp"
#include "doctor/on_the_fly.hpp"

namespace xtts::doctor {

struct RealBatches {
  std::uint32_t batch_size = 32;
  double step_ms = 0.0;                   // 0: not known
  const LibrosaRates* librosa = nullptr;  // null: not measured, as the next two
  const ComputeRates* ours = nullptr;
  const CacheMeasurement* cache = nullptr;
  bool is_sample = false;  // the cache is one of a sample
  std::string no_cache;    // why there is none; empty: nobody asked for one
};

[[nodiscard]] Check check_real_batches(const RealBatches& batches);

}  // namespace xtts::doctor
