// GpuSampler watches what a GPU does while a program works: utilization, memory, PCIe, clocks and
// power. Part of libxtts_reader.so.
//
// It asks NVIDIA's management library (NVML), which it opens at run time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xtts/export.hpp"
#include "xtts/status.hpp"

namespace xtts {

// The samples of one value. `std` is the population's.
struct GpuSpread {
  double mean = 0.0;
  double std = 0.0;
  double min = 0.0;
  double max = 0.0;
};

// A GPU's activity while it was sampled. All of its programs count, not this process alone. A value
// that could not be read is absent, and `missing` says why.
struct GpuUse {
  std::uint64_t sample_count = 0;   // 0: nothing was read
  double seconds = 0.0;             // how long the GPU was sampled
  std::string name = {};            // "NVIDIA GeForce RTX 4090"
  std::string pci_bus_id = {};      // "0000:01:00.0"
  std::string driver_version = {};  // "570.86.15"
  // The share of the time in which a kernel ran, in percent. Each sample is a mean over 1/6 to 1 s
  // (NVML's period, which depends on the GPU): faster swings do not show.
  std::optional<GpuSpread> utilization = {};
  // The percent that 5, 50 and 95 % of the samples do not exceed.
  std::optional<double> utilization_p5 = {}, utilization_p50 = {}, utilization_p95 = {};
  // The share of the time in which the GPU's memory was read or written, in percent.
  std::optional<GpuSpread> memory_utilization = {};
  std::optional<GpuSpread> memory_used_bytes = {};
  std::optional<std::uint64_t> memory_total_bytes = {};
  std::optional<GpuSpread> pcie_received_bytes_per_s = {},
                           pcie_sent_bytes_per_s = {};  // by the GPU
  // An idle link is slower: generation and width are the highest of when sampling began and ended.
  std::optional<std::uint32_t> pcie_generation = {}, pcie_width = {};
  std::optional<std::uint32_t> pcie_generation_max = {}, pcie_width_max = {};  // of GPU and slot
  std::optional<GpuSpread> sm_clock_mhz = {}, memory_clock_mhz = {};
  std::optional<GpuSpread> power_w = {};
  std::optional<double> power_limit_w = {};
  std::optional<GpuSpread> temperature_c = {};
  std::vector<std::string> throttle_reasons = {};  // what slowed the clocks in any sample
  std::string missing = {};  // "power: the GPU does not tell"; empty: all was read
};

struct GpuSamplerOptions {
  std::chrono::milliseconds interval{100};  // 1 ms to 1 h
  // PCIe throughput takes 40 ms a sample, in which the sampler's thread waits.
  bool reads_pcie = true;
};

// One thread of its own samples between start() and stop(). Memory does not grow with samples.
// Synchronised inside. A forked child has no such thread: there start(), stop() and use() return
// at once, and use() says so in `missing`. Failures: kUnsupported (no NVIDIA driver, no such GPU, a
// forked child), kResource (no thread, a call that the driver refused).
class GpuSampler {
 public:
  // `pci_bus_id` is as CUDA writes it: CUDA's numbers of GPUs are not NVML's.
  [[nodiscard]] XTTS_API static Result<GpuSampler> open(std::string_view pci_bus_id,
                                                        const GpuSamplerOptions& options = {});
  XTTS_API ~GpuSampler();
  XTTS_API GpuSampler(GpuSampler&& other) noexcept;
  XTTS_API GpuSampler& operator=(GpuSampler&& other) noexcept;

  // Continues after stop(): samples are added to the earlier ones.
  [[nodiscard]] XTTS_API Status start();
  // Takes a last sample. Waits for it, up to 60 ms with PCIe throughput.
  XTTS_API Status stop();
  [[nodiscard]] XTTS_API Result<GpuUse> use() const;

 private:
  struct Impl;
  explicit GpuSampler(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

// The PCI bus id of the GPU that CUDA calls "cuda:N" in this process: "0000:01:00.0".
[[nodiscard]] XTTS_API Result<std::string> cuda_pci_bus_id(int number);

}  // namespace xtts
