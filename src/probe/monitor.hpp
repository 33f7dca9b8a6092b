// Monitor samples what a machine does while it trains: processors, memory, the disk below a
// folder, GPUs, how much of a cache is in memory, and how long readers wait. One thread at a time.
// A value that cannot be read is absent.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "device/gpu_monitor.hpp"
#include "probe/reader_count.hpp"
#include "probe/system_counters.hpp"

namespace xtts {
class FileMapping;
}

namespace xtts::probe {

struct GpuSample {
  std::string name;
  std::optional<double> utilization;  // percent
  std::optional<std::uint64_t> memory_used_bytes;
  std::optional<double> power_w;
};

// A reader that writes its statistics (XTTS_READER_STATS).
struct ReaderSample {
  std::string name;  // "reader-1234-0"
  // Since the file's last change but one; unset: it has not changed since the last sample.
  std::optional<double> batches_per_s = {}, samples_per_s = {};
  std::optional<double> wait_share = {};  // of the time, its consumer waited
};

struct MonitorSample {
  double at_s = 0.0;  // since the monitor was opened
  double cpu_share = 0.0;
  std::vector<double> core_shares;
  std::uint64_t memory_available_bytes = 0;
  std::optional<double> disk_bytes_per_s, disk_busy_share;
  std::vector<GpuSample> gpus;
  std::optional<double> cache_in_memory_share;
  std::vector<ReaderSample> readers;
};

struct MonitorOptions {
  std::string folder = {};   // whose disk is watched; empty: none
  std::string cache = {};    // empty: none
  std::string readers = {};  // the folder of XTTS_READER_STATS; empty: none
};

class Monitor {
 public:
  // Failures: kNotFound, kCorrupt: of the cache.
  [[nodiscard]] static Result<std::unique_ptr<Monitor>> open(Env& env,
                                                             const MonitorOptions& options);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // Samples the time since the last call, or since open().
  [[nodiscard]] MonitorSample sample();
  // Why there is no GPU; empty: there is one.
  [[nodiscard]] const std::string& no_gpu() const noexcept { return no_gpu_; }
  [[nodiscard]] const std::string& disk() const noexcept { return disk_; }  // "nvme0n1"

 private:
  Monitor(Env& env, const MonitorOptions& options);
  [[nodiscard]] Status map_cache();
  [[nodiscard]] std::vector<ReaderSample> sample_readers();

  Env& env_;
  const MonitorOptions options_;
  std::string disk_, no_gpu_;
  std::shared_ptr<const device::GpuMonitor> gpu_monitor_;
  std::vector<device::GpuFacts> gpus_;
  std::vector<std::shared_ptr<const FileMapping>> shards_;
  SystemCounters last_;
  std::map<std::string, ReaderCount> last_readers_;
  std::chrono::nanoseconds begin_{}, last_at_{};
};

}  // namespace xtts::probe
