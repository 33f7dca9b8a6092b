#include <algorithm>

#include "decode_worker/contained_decoder.hpp"

namespace xtts::decode_worker {
namespace {

constexpr double kMib = 1024.0 * 1024.0;
constexpr double kSecondsMax = 30.0 * 24 * 3600;  // what fits in nanoseconds, and a month is enough

double seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

std::chrono::nanoseconds cpu_time_max(const CpuLimit& limit, std::uint64_t source_bytes,
                                      double source_seconds_max) {
  const auto bytes = static_cast<double>(source_bytes);
  // In this order a length that is no number counts as none.
  const double sound_seconds =
      std::min(std::max(0.0, source_seconds_max), bytes / limit.source_bytes_per_second_min);
  const double seconds = seconds_of(limit.base) + seconds_of(limit.per_mib) * bytes / kMib +
                         seconds_of(limit.per_source_second) * sound_seconds;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(std::min(seconds, kSecondsMax)));
}

}  // namespace xtts::decode_worker
