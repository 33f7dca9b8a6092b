// CudaFrameEngines: computes frames on one NVIDIA GPU. Each engine has a stream, page-locked memory
// and a plan of cuFFT of its own, so the GPU works for one thread while others decode.
//
// Failures: kUnsupported, with the reason and a remedy (no driver, no such GPU, no cuFFT, no
// kernels in this build, a forked child); kResource.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cuda/device_pool.hpp"
#include "dsp/frame_engine.hpp"
#include "dsp_cuda/frame_kernels.hpp"

namespace xtts::dsp_cuda {

class CudaFrameEngines final : public dsp::FrameEngines {
 public:
  // `number` counts the GPUs that CUDA_VISIBLE_DEVICES shows, as in "cuda:1".
  [[nodiscard]] static Result<std::shared_ptr<const CudaFrameEngines>> open(int number);

  // The GPU whose device() is `device`. Null: this machine has none.
  [[nodiscard]] static std::shared_ptr<const CudaFrameEngines> find(std::string_view device);

  [[nodiscard]] Result<std::unique_ptr<dsp::FrameEngine>> make(
      const formats::FeatureConfig& config) const override;
  // "cuda: NVIDIA H100 80GB HBM3, sm_90, cuFFT 12.0.0".
  [[nodiscard]] std::string device() const override { return device_; }

 private:
  CudaFrameEngines(std::shared_ptr<cuda::DevicePool> pool,
                   std::shared_ptr<const FrameKernels> kernels, std::string device)
      : pool_(std::move(pool)), kernels_(std::move(kernels)), device_(std::move(device)) {}

  std::shared_ptr<cuda::DevicePool> pool_;
  std::shared_ptr<const FrameKernels> kernels_;
  std::string device_;
};

}  // namespace xtts::dsp_cuda
