// GpuPreset: the trainer's documented settings for one GPU, from configs/gpus.yaml. Nothing in it
// was measured. Plain values and free functions; share freely.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::doctor {

struct GpuPreset {
  std::string name;  // "RTX 4090"; "a GPU of 16 GB" where only the memory counts
  double memory_gb = 0;
  std::uint32_t batch_size = 0;
  std::uint32_t batch_size_max = 0;  // the largest documented one
  std::uint32_t num_workers = 0;
  std::uint32_t prefetch = 0;  // batches
  std::string source;          // which of the trainer's documents
};

// One GPU for the data, one for the model. `memory_gb` is that of each.
struct TwoGpuPreset {
  double memory_gb = 0;
  std::uint32_t batch_size = 0;
  std::uint32_t prefetch = 0;  // batches
  std::uint32_t data_gpu_mb = 0;
  std::uint32_t model_gpu_mb = 0;
  std::string source;
};

struct GpuPresets {
  std::vector<GpuPreset> gpus;
  std::vector<GpuPreset> sizes;  // rising memory
  std::vector<TwoGpuPreset> two_gpus;
};

// configs/gpus.yaml, as embed_gpus.cmake compiles it in.
[[nodiscard]] std::string_view shipped_gpus_yaml();

// kInvalidArgument: names the line and the fault.
[[nodiscard]] Result<GpuPresets> read_gpu_presets(std::string_view yaml, std::string_view origin);

// Finds the settings of "RTX 4090", "4090", "24GB" or "24". kInvalidArgument: neither a GPU of the
// file nor a size.
[[nodiscard]] Result<GpuPreset> gpu_named(std::string_view text);
// Finds the settings of a GPU that NVML or another source describes. The name counts only where the
// memory agrees: a laptop's GPU has the name of a larger one.
[[nodiscard]] Result<GpuPreset> gpu_of(std::string_view name, std::uint64_t memory_bytes);
[[nodiscard]] Result<TwoGpuPreset> two_gpus_of(double memory_gb);

// The GPUs of this machine.
struct FoundGpus {
  GpuPreset first;
  std::uint32_t count = 0;
};
// Asks NVML. Empty: no GPU, no driver, or no memory told.
[[nodiscard]] std::optional<FoundGpus> find_gpus();

}  // namespace xtts::doctor
