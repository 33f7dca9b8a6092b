#include "device/cuda_device.hpp"

#include <utility>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "device/cuda_norms.hpp"
#include "device/cuda_slot.hpp"
#include "device/host_memory.hpp"

namespace xtts::device {
namespace {

class CudaDevice final : public Device, public std::enable_shared_from_this<CudaDevice> {
 public:
  CudaDevice(std::shared_ptr<CudaParts> parts, std::uint64_t memory_bytes)
      : parts_(std::move(parts)), memory_bytes_(memory_bytes) {}

  [[nodiscard]] DeviceId id() const noexcept override {
    return {DeviceKind::kCuda, parts_->context->number()};
  }
  [[nodiscard]] bool reads_host_memory() const noexcept override { return false; }
  [[nodiscard]] Result<std::unique_ptr<SlotMemory>> make_slot(const SlotBytes& size) override {
    return CudaSlot::make(shared_from_this(), parts_, size, memory_bytes_);
  }
  [[nodiscard]] std::string shortfall() const override { return {}; }

 private:
  std::shared_ptr<CudaParts> parts_;
  std::uint64_t memory_bytes_;
};

}  // namespace

Result<std::shared_ptr<Device>> open_cuda(int number, const DeviceOptions& options) {
  XTTS_ASSIGN(auto context, cuda::Context::open(number));
  auto parts = std::make_shared<CudaParts>();
  parts->context = context;
  parts->pool = cuda::DevicePool::of(context);
  XTTS_ASSIGN(parts->kernels, cuda::Kernels::load(context));
  return std::shared_ptr<Device>(
      std::make_shared<CudaDevice>(std::move(parts), options.gpu_memory_bytes));
}

}  // namespace xtts::device
