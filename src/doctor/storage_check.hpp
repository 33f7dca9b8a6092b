// Does the storage bring a batch in time? Pure: judges what measure_storage() found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "doctor/check.hpp"
#include "doctor/storage_probe.hpp"

namespace xtts::doctor {

struct StorageQuestion {
  std::string folder;  // as the user wrote it
  std::uint32_t batch_size = 32;
  std::uint64_t whole_bytes = 0;  // of all that an epoch reads
  std::uint64_t memory_available_bytes = 0;
  bool is_cache = false;  // the folder is a cache; else it has sources
  // Bytes of a clip in a cache; 0: unknown.
  std::uint64_t padded_record_bytes = 0;
  std::uint64_t packed_half_record_bytes = 0;
};

// Milliseconds in which the storage gives a batch's clips, read one at a time, and many at a time.
// Unset: not measured.
[[nodiscard]] std::optional<double> batch_ms(const StorageMeasurement& storage,
                                             std::uint32_t batch_size);
[[nodiscard]] std::optional<double> batch_ms_deep(const StorageMeasurement& storage,
                                                  std::uint32_t batch_size);

[[nodiscard]] Check check_storage(const StorageMeasurement& storage,
                                  const StorageQuestion& question);

}  // namespace xtts::doctor
