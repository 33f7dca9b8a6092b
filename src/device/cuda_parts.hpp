// The parts that all slots of a CudaDevice share.
#pragma once

#include <memory>

#include "cuda/device_pool.hpp"
#include "cuda/kernel_module.hpp"
#include "device/cuda_norms.hpp"

namespace xtts::device {

struct CudaGpu {
  std::shared_ptr<const cuda::Context> context;
  std::shared_ptr<cuda::DevicePool> pool;
  cuda::MemoryLimit limit;
};

struct CudaParts {
  CudaGpu data;      // receives batches from the host, and makes what the consumer sees
  CudaGpu consumer;  // the same GPU, or another one, to which finished batches are copied
  std::unique_ptr<cuda::Kernels> kernels;  // on `data`
  CudaNorms norms;                         // on `data`

  [[nodiscard]] bool has_two_gpus() const noexcept { return data.pool != consumer.pool; }
};

}  // namespace xtts::device
