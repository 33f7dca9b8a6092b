// include/xtts/gpu.hpp on device::GpuSampler.
#include <utility>

#include "api/reader/public_cache.hpp"
#include "base/try.hpp"
#include "cuda/context.hpp"
#include "device/gpu_sampler.hpp"
#include "xtts/gpu.hpp"

namespace xtts {

struct GpuSampler::Impl {
  explicit Impl(std::unique_ptr<device::GpuSampler> opened) : sampler(std::move(opened)) {}
  ~Impl() {
    const NoCancellation no_cancellation;
    sampler.reset();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::unique_ptr<device::GpuSampler> sampler;
};

GpuSampler::GpuSampler(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
GpuSampler::~GpuSampler() = default;
GpuSampler::GpuSampler(GpuSampler&& other) noexcept = default;
GpuSampler& GpuSampler::operator=(GpuSampler&& other) noexcept = default;

Result<GpuSampler> GpuSampler::open(std::string_view pci_bus_id, const GpuSamplerOptions& options) {
  return api::guarded([&]() -> Result<GpuSampler> {
    XTTS_ASSIGN(auto sampler, device::GpuSampler::open(pci_bus_id, options));
    return GpuSampler(std::make_unique<Impl>(std::move(sampler)));
  });
}

Status GpuSampler::start() {
  return api::guarded([&]() -> Status {
    if (impl_ == nullptr) return api::is_empty("GpuSampler");
    return impl_->sampler->start();
  });
}

Status GpuSampler::stop() {
  return api::guarded([&]() -> Status {
    if (impl_ == nullptr) return api::is_empty("GpuSampler");
    impl_->sampler->stop();
    return {};
  });
}

Result<GpuUse> GpuSampler::use() const {
  return api::guarded([&]() -> Result<GpuUse> {
    if (impl_ == nullptr) return api::is_empty("GpuSampler");
    return impl_->sampler->use();
  });
}

Result<std::string> cuda_pci_bus_id(int number) {
  return api::guarded([&]() -> Result<std::string> { return cuda::Context::pci_bus_id(number); });
}

}  // namespace xtts
