// The kernel's counters: processor time, disk reads, memory. The parsers are pure; they take texts
// of /proc and ignore what they do not know.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace xtts::probe {

// In ticks since the machine started.
struct CpuTicks {
  std::uint64_t busy = 0;
  std::uint64_t total = 0;
};

struct DiskCounters {
  std::uint64_t read_bytes = 0;
  std::uint64_t busy_ms = 0;  // with at least one request in work
};

struct SystemCounters {
  CpuTicks all;
  std::vector<CpuTicks> cores;
  std::optional<DiskCounters> disk;  // of the device that was asked about
};

// /proc/stat. A waiting processor (iowait) is not busy.
void parse_stat(std::string_view text, SystemCounters& counters);
// /proc/diskstats; `device`: "nvme0n1".
[[nodiscard]] std::optional<DiskCounters> parse_diskstats(std::string_view text,
                                                          std::string_view device);
[[nodiscard]] SystemCounters read_counters(std::string_view device);

// The share of the time between two moments in which the processor was busy, 0 to 1.
[[nodiscard]] double busy_share(const CpuTicks& before, const CpuTicks& after) noexcept;

}  // namespace xtts::probe
