// Measures the storage below files by reading them past the page cache. Reads only, except for the
// time of a sync, which a small new file takes. Best effort: what cannot be measured stays unset,
// and `missing` says why.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"

namespace xtts::probe {

// The bytes of a clip or of a record: a file, or a part of one.
struct Extent {
  std::string path;
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;
};

struct StorageMeasurement {
  StorageFacts system;  // what the system says
  std::size_t extent_count = 0;
  double extent_bytes = 0.0;  // mean of those that were read
  std::optional<double> sequential_bytes_per_s;
  std::optional<double> random_4k_ms;          // one at a time
  std::optional<double> random_4k_per_s_deep;  // kDeep at a time
  // Opening a file and reading the whole extent, in random order.
  std::optional<double> extent_ms;           // one at a time
  std::optional<double> extents_per_s_deep;  // kDeep at a time
  std::optional<double> sync_ms;             // of 4 KiB, median
  std::optional<double> cached_share;        // of the extents' bytes, before they were read
  std::string missing = {};
};

// As many reads as a loader with many workers has in flight.
inline constexpr std::uint32_t kDeep = 32;

struct StorageProbe {
  std::string folder;                 // whose storage is asked about
  std::vector<Extent> extents;        // in random order
  std::vector<Extent> in_order = {};  // that most likely lie one after the other; empty: `extents`
  std::string writable_folder = {};   // for the time of a sync; empty: not measured
  std::chrono::milliseconds budget{4000};
  std::function<bool()> cancelled = {};
};

// The share of the extents' bytes that is in the page cache now; unset where the kernel does not
// tell.
[[nodiscard]] std::optional<double> share_in_page_cache(Env& env,
                                                        const std::vector<Extent>& extents);

[[nodiscard]] StorageMeasurement measure_storage(Env& env, const StorageProbe& probe);

}  // namespace xtts::probe
