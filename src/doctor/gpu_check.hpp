// Which GPUs are there, and do their driver and links hold them back?
#pragma once

#include <cstddef>
#include <vector>

#include "device/gpu_monitor.hpp"
#include "doctor/check.hpp"

namespace xtts::doctor {

// How the GPU is connected with a later one of the list.
struct GpuPeer {
  std::size_t number = 0;
  device::GpuLink link;
};

// A GPU, and what it does while the doctor looks. The reading of an idle GPU says nothing about
// training.
struct GpuState {
  device::GpuFacts facts;
  device::GpuReading reading;
  std::vector<GpuPeer> peers = {};
};

// Asks NVML. A machine without a GPU is an answer: the failure's message says why.
[[nodiscard]] Result<std::vector<GpuState>> read_gpus();

// `gpus`: of read_gpus().
[[nodiscard]] Check check_gpus(const Result<std::vector<GpuState>>& gpus);

}  // namespace xtts::doctor
