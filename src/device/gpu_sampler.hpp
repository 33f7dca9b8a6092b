// GpuSampler behind include/xtts/gpu.hpp: the thread, and the sums of what it reads.
//
// Synchronised inside. Failures: as GpuMonitor's, and kResource (no thread).
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>

#include "device/gpu_monitor.hpp"
#include "device/gpu_tally.hpp"
#include "xtts/gpu.hpp"

namespace xtts::device {

class GpuSampler {
 public:
  [[nodiscard]] static Result<std::unique_ptr<GpuSampler>> open(std::string_view pci_bus_id,
                                                                const GpuSamplerOptions& options);
  [[nodiscard]] static Result<std::unique_ptr<GpuSampler>> open(
      std::shared_ptr<const GpuMonitor> monitor, Gpu gpu, const GpuSamplerOptions& options);
  ~GpuSampler();
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  [[nodiscard]] Status start();
  void stop();
  [[nodiscard]] GpuUse use() const;

 private:
  // The objects that the thread uses. A forked child leaves them alone: their mutexes may be held
  // for ever.
  struct Shared {
    std::shared_ptr<const GpuMonitor> monitor;
    Gpu gpu = nullptr;
    GpuSamplerOptions options;
    std::mutex start_mutex;  // held by start() and stop()
    std::mutex mutex;        // guards what stands below
    std::condition_variable for_thread;
    bool is_stopping = false;
    GpuTally tally;
    std::thread thread;  // guarded by start_mutex
  };

  explicit GpuSampler(std::unique_ptr<Shared> shared);
  [[nodiscard]] bool is_forked() const noexcept { return !shared_->monitor->may_be_called(); }
  static void run(Shared& shared);

  std::unique_ptr<Shared> shared_;
};

}  // namespace xtts::device
