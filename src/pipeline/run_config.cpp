#include "pipeline/run_config.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace xtts::pipeline {

std::uint32_t default_thread_count() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    return static_cast<std::uint32_t>(std::max(CPU_COUNT(&allowed), 1));
  }
  return std::max(std::thread::hardware_concurrency(), 1U);
}

std::uint64_t default_memory_bytes() {
  const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L));
  const auto page_bytes = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 0L));
  const std::uint64_t quarter = pages * page_bytes / 4;
  return std::max(std::min(quarter, std::uint64_t{2} << 30U), kMemoryBytesMin);
}

}  // namespace xtts::pipeline
