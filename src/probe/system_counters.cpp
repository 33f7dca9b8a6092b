#include "probe/system_counters.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include "base/system_call.hpp"

namespace xtts::probe {
namespace {

constexpr std::uint64_t kSectorBytes = 512;  // of /proc/diskstats, whatever the disk's own are

}  // namespace

void parse_stat(std::string_view text, SystemCounters& counters) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("cpu")) continue;
    std::istringstream words(line);
    std::string name;
    words >> name;
    CpuTicks ticks;
    // user nice system idle iowait irq softirq steal; guest time is part of user time.
    for (int field = 0; field < 8; ++field) {
      std::uint64_t value = 0;
      if (!(words >> value)) break;
      ticks.total += value;
      if (field != 3 && field != 4) ticks.busy += value;
    }
    if (name == "cpu") {
      counters.all = ticks;
    } else {
      counters.cores.push_back(ticks);
    }
  }
}

std::optional<DiskCounters> parse_diskstats(std::string_view text, std::string_view device) {
  if (device.empty()) return std::nullopt;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::uint64_t major = 0;
    std::uint64_t minor = 0;
    std::string name;
    if (!(words >> major >> minor >> name) || name != device) continue;
    // reads, merged, sectors read, ms reading, writes, merged, sectors written, ms writing, in
    // work, ms busy
    std::uint64_t fields[10] = {};
    for (std::uint64_t& field : fields)
      if (!(words >> field)) return std::nullopt;
    return DiskCounters{.read_bytes = fields[2] * kSectorBytes, .busy_ms = fields[9]};
  }
  return std::nullopt;
}

SystemCounters read_counters(std::string_view device) {
  SystemCounters counters;
  parse_stat(read_kernel_text("/proc/stat"), counters);
  counters.disk = parse_diskstats(read_kernel_text("/proc/diskstats"), device);
  return counters;
}

double busy_share(const CpuTicks& before, const CpuTicks& after) noexcept {
  if (after.total <= before.total || after.busy < before.busy) return 0.0;
  return std::min(1.0, static_cast<double>(after.busy - before.busy) /
                           static_cast<double>(after.total - before.total));
}

}  // namespace xtts::probe
