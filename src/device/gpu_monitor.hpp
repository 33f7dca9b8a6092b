// GpuMonitor reads what GPUs do, from NVIDIA's management library (NVML), opened at run time.
//
// Immutable; any number of threads. Failures: kUnsupported (no driver, one that is too old, no such
// GPU, a forked child), kResource (a call that the driver refused). One value that cannot be read
// is no failure: it is absent, and Missing says why.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/nvml_calls.hpp"
#include "xtts/status.hpp"

namespace xtts::device {

// Valid as long as its GpuMonitor.
using Gpu = nvml::DeviceHandle;

// A value that could not be read.
struct Missing {
  std::string_view value;  // "power"
  std::string reason;
};

// "power, temperature: the GPU does not tell; ...". Empty: nothing is missing.
[[nodiscard]] std::string in_words(std::span<const Missing> missing);

// The identity of a GPU, and how it is connected now.
struct GpuFacts {
  Gpu gpu = nullptr;
  std::string name;        // "NVIDIA GeForce RTX 4090"
  std::string uuid;        // "GPU-1b2c..."
  std::string pci_bus_id;  // "0000:01:00.0", as CUDA writes it
  std::string driver_version;
  std::optional<int> cuda_version;  // the highest that the driver knows; 13000: CUDA 13.0
  std::optional<std::uint64_t> memory_total_bytes;
  std::optional<double> power_limit_w;
  // An idle link may be slower than it can be.
  std::optional<std::uint32_t> pcie_generation, pcie_width;
  std::optional<std::uint32_t> pcie_generation_max, pcie_width_max;  // of GPU and slot
  std::vector<Missing> missing;
};

// A GPU's activity at one moment. xtts::GpuUse says what the values mean.
struct GpuReading {
  std::optional<std::uint32_t> utilization, memory_utilization;  // percent
  std::optional<std::uint64_t> memory_used_bytes, memory_free_bytes;
  std::optional<std::uint64_t> pcie_received_bytes_per_s, pcie_sent_bytes_per_s;
  std::optional<std::uint32_t> sm_clock_mhz, memory_clock_mhz;
  std::optional<double> power_w;
  std::optional<std::uint32_t> temperature_c;
  // The reasons why the clocks are slow. That the GPU is idle is no such reason.
  std::optional<std::vector<std::string_view>> throttle_reasons;
  std::vector<Missing> missing;
};

// How two GPUs are connected. What cannot be asked is absent.
struct GpuLink {
  std::string_view way;            // "through one PCIe switch"; empty: the driver does not tell
  std::optional<bool> reads_peer;  // one copies from the other without the host's memory
  std::optional<bool> has_nvlink;
};

enum class PcieReading : std::uint8_t {
  kNone,        // its values are absent, and not missing
  kThroughput,  // takes 40 ms
};

class GpuMonitor {
 public:
  // Another library is for tests. NVML is never closed, and starts once for the process.
  [[nodiscard]] static Result<std::shared_ptr<const GpuMonitor>> open(
      const std::string& library = "libnvidia-ml.so.1");

  // A GPU that cannot be opened, as a lost one, is in the list without a handle.
  [[nodiscard]] Result<std::vector<GpuFacts>> gpus() const;
  [[nodiscard]] Result<GpuFacts> facts(Gpu gpu) const;
  // Finds a GPU by its PCI bus id: CUDA's numbers of GPUs are not NVML's.
  [[nodiscard]] Result<Gpu> find(std::string_view pci_bus_id) const;
  [[nodiscard]] GpuReading read(Gpu gpu, PcieReading pcie) const;
  [[nodiscard]] GpuLink link(Gpu one, Gpu other) const;
  // False in a forked child: NVML's locks may be held there for ever.
  [[nodiscard]] bool may_be_called() const noexcept;

 private:
  explicit GpuMonitor(const nvml::Calls& calls);
  [[nodiscard]] Status check_process() const;
  [[nodiscard]] Status check(nvml::CallResult result, std::string_view what) const;
  [[nodiscard]] std::string reason(nvml::CallResult result) const;

  // Calls NVML for one value. False: the value is missing, and noted.
  template <typename Call, typename... Arguments>
  bool ask(std::vector<Missing>& missing, std::string_view value, Call call,
           Arguments... arguments) const;
  template <typename Value, typename Call, typename... Arguments>
  [[nodiscard]] std::optional<Value> number(std::vector<Missing>& missing, std::string_view value,
                                            Call call, Arguments... arguments) const;
  template <typename Call, typename... Arguments>
  [[nodiscard]] std::string text(std::vector<Missing>& missing, std::string_view value, Call call,
                                 Arguments... arguments) const;

  nvml::Calls calls_;
  std::uint32_t forks_;  // when this was opened
};

}  // namespace xtts::device
