#include "device/cuda_device.hpp"

#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "device/cuda_parts.hpp"
#include "device/cuda_slot.hpp"
#include "device/host_memory.hpp"

namespace xtts::device {
namespace {

class CudaDevice final : public Device, public std::enable_shared_from_this<CudaDevice> {
 public:
  explicit CudaDevice(std::shared_ptr<CudaParts> parts) : parts_(std::move(parts)) {}

  [[nodiscard]] DeviceId id() const noexcept override {
    return {DeviceKind::kCuda, parts_->consumer.context->number()};
  }
  [[nodiscard]] std::string pci_bus_id() const override {
    return parts_->consumer.context->pci_bus_id();
  }
  [[nodiscard]] bool reads_host_memory() const noexcept override { return false; }
  [[nodiscard]] Result<std::unique_ptr<SlotMemory>> make_slot(const SlotBytes& size) override {
    return CudaSlot::make(shared_from_this(), parts_, size);
  }
  [[nodiscard]] Result<std::optional<BorrowableMemory>> make_borrowable(
      std::size_t size_bytes) const override {
    const std::shared_ptr<const cuda::Context>& gpu = parts_->data.context;
    // Without lists, each borrowed record would be a call of its own; a slot's rows go in few.
    if (!gpu->copies_lists()) return std::optional<BorrowableMemory>();
    XTTS_ASSIGN(HostMemory memory,
                HostMemory::allocate(
                    size_bytes, {.numa_node = gpu->numa_node(), .is_kept_from_children = true}));
    XTTS_ASSIGN(cuda::HostLock locked, cuda::HostLock::lock(gpu, memory.bytes()));
    return std::optional<BorrowableMemory>(std::in_place, std::move(memory), std::move(locked));
  }
  [[nodiscard]] std::string facts() const override {
    const std::string words = facts_of(parts_->consumer);
    return parts_->has_two_gpus() ? words + "; batches come over " + facts_of(parts_->data) : words;
  }
  [[nodiscard]] std::string shortfall() const override { return {}; }

 private:
  static std::string facts_of(const CudaGpu& gpu) {
    constexpr std::size_t kMiB = std::size_t{1} << 20U;
    return formatted("{} ({}), of whose memory readers hold {} MiB", gpu.context->label(),
                     gpu.context->gpu_name(), (gpu.pool->held_bytes() + kMiB - 1) / kMiB);
  }

  std::shared_ptr<CudaParts> parts_;
};

Result<CudaGpu> open_gpu(int number, const cuda::MemoryLimit& limit) {
  XTTS_ASSIGN(auto context, cuda::Context::open(number));
  auto pool = cuda::DevicePool::of(context);
  return CudaGpu{.context = std::move(context), .pool = std::move(pool), .limit = limit};
}

}  // namespace

Result<std::shared_ptr<Device>> open_cuda(int number, int data_number,
                                          const DeviceOptions& options) {
  auto parts = std::make_shared<CudaParts>();
  XTTS_ASSIGN(parts->consumer, open_gpu(number, {.bytes = options.gpu_memory_bytes}));
  parts->data = parts->consumer;
  if (data_number != number) {
    XTTS_ASSIGN(parts->data, open_gpu(data_number, {.bytes = options.data_gpu_memory_bytes,
                                                    .setting = "data_device_memory"}));
    parts->data.context->enable_peer(*parts->consumer.context);
  }
  XTTS_ASSIGN(parts->kernels, cuda::Kernels::load(parts->data.context));
  return std::shared_ptr<Device>(std::make_shared<CudaDevice>(std::move(parts)));
}

}  // namespace xtts::device
