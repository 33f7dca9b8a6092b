#include "probe/machine.hpp"

#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "base/formatted.hpp"
#include "base/storage_facts.hpp"
#include "base/system_call.hpp"
#include "pipeline/run_config.hpp"

namespace xtts::probe {
namespace {

// The lowest limit of this process's control group and of all groups above it.
std::optional<double> cpu_limit_of_groups() {
  std::string group = "/";
  std::istringstream lines(read_kernel_text("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("0::")) group = line.substr(3);
  std::optional<double> lowest;
  for (const std::string& above : groups_above(group)) {
    const auto limit =
        parse_cpu_limit(read_kernel_text(formatted("/sys/fs/cgroup{}/cpu.max", above)));
    if (limit) lowest = std::min(lowest.value_or(*limit), *limit);
  }
  return lowest;
}

std::uint64_t total_memory_bytes() {
  std::istringstream lines(read_kernel_text("/proc/meminfo"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kibibytes = 0;
    if (words >> name >> kibibytes && name == "MemTotal:") return kibibytes * 1024;
  }
  return 0;
}

}  // namespace

double MachineFacts::usable_cores() const noexcept {
  const double cores = core_count;
  return cpu_limit ? std::clamp(*cpu_limit, 0.1, cores) : cores;
}

std::optional<double> parse_cpu_limit(std::string_view text) {
  std::istringstream words{std::string(text)};
  double quota = 0.0;
  double period = 0.0;
  if (!(words >> quota >> period) || quota <= 0.0 || period <= 0.0) return std::nullopt;
  return quota / period;
}

MachineFacts read_machine(Env& env) {
  MachineFacts facts;
  facts.core_count = pipeline::default_thread_count();
  facts.cpu_limit = cpu_limit_of_groups();
  facts.memory_total_bytes = total_memory_bytes();
  if (const auto available = env.available_memory_bytes(); available.ok())
    facts.memory_available_bytes = *available;
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    facts.lock_limit_bytes = limit.rlim_cur;
  struct statvfs shm {};
  if (::statvfs("/dev/shm", &shm) == 0) {
    facts.shm_total_bytes = std::uint64_t{shm.f_blocks} * shm.f_frsize;
    facts.shm_free_bytes = std::uint64_t{shm.f_bavail} * shm.f_frsize;
  }
  return facts;
}

}  // namespace xtts::probe
