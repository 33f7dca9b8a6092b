#include "device/cpu_device.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "base/try.hpp"
#include "cuda/context.hpp"
#include "cuda/device_pool.hpp"
#include "device/host_memory.hpp"

namespace xtts::device {
namespace {

template <typename Element>
void fill_elements(std::span<std::byte> out, std::uint64_t bits) noexcept {
  const auto element = static_cast<Element>(bits);
  // Copies bytes: the range begins on an element, but its memory has no such type in C++.
  for (std::size_t i = 0; i + sizeof(Element) <= out.size(); i += sizeof(Element)) {
    std::memcpy(out.data() + i, &element, sizeof(Element));
  }
}

void fill_bytes(std::span<std::byte> out, const Pattern& pattern) noexcept {
  if (pattern.bits == 0) {
    std::memset(out.data(), 0, out.size());
  } else if (pattern.element_bytes == 1) {
    fill_elements<std::uint8_t>(out, pattern.bits);
  } else if (pattern.element_bytes == 2) {
    fill_elements<std::uint16_t>(out, pattern.bits);
  } else if (pattern.element_bytes == 4) {
    fill_elements<std::uint32_t>(out, pattern.bits);
  } else {
    fill_elements<std::uint64_t>(out, pattern.bits);
  }
}

// The event of an upload that has nothing to copy: it has always happened.
class Always final : public Event {
 public:
  [[nodiscard]] Status wait() const override { return {}; }
  [[nodiscard]] Status let_wait(std::uintptr_t) const override { return {}; }
};

// One block of memory: staging(), then host() on the next page.
class CpuSlot final : public SlotMemory {
 public:
  CpuSlot(std::shared_ptr<const Device> device, HostMemory memory,
          std::optional<cuda::HostLock> locked, const SlotBytes& size)
      : device_(std::move(device)),
        memory_(std::move(memory)),
        locked_(std::move(locked)),
        size_(size) {}

  [[nodiscard]] const Device& device() const noexcept override { return *device_; }
  [[nodiscard]] Status begin_filling() override { return {}; }
  [[nodiscard]] bool is_idle() const noexcept override { return true; }
  [[nodiscard]] std::span<std::byte> staging() noexcept override {
    return memory_.bytes().first(size_.staging);
  }
  void fill(std::size_t offset_bytes, std::size_t size_bytes,
            const Pattern& pattern) noexcept override {
    fill_bytes(staging().subspan(offset_bytes, size_bytes), pattern);
  }
  [[nodiscard]] bool change(std::size_t, std::size_t, const Change&) override { return false; }
  void discard() noexcept override {}
  [[nodiscard]] std::span<std::byte> host() noexcept override {
    return memory_.bytes().subspan(host_offset_bytes(size_), size_.host);
  }
  [[nodiscard]] Result<const Event*> upload() override { return &uploaded_; }
  [[nodiscard]] const std::byte* consumer_data() const noexcept override {
    return memory_.bytes().data();
  }
  [[nodiscard]] const std::byte* consumer_host_data() const noexcept override {
    return consumer_data() + host_offset_bytes(size_);
  }
  void end_lease() noexcept override {}

 private:
  std::shared_ptr<const Device> device_;
  HostMemory memory_;
  std::optional<cuda::HostLock> locked_;  // unlocked before the memory goes
  SlotBytes size_;
  Always uploaded_;
};

class CpuDevice final : public Device, public std::enable_shared_from_this<CpuDevice> {
 public:
  // `gpu`: page-locks the slots for it, and for all other GPUs. Null: does not.
  CpuDevice(const DeviceOptions& options, std::shared_ptr<const cuda::Context> gpu,
            std::string notice)
      : lock_memory_(options.lock_memory), gpu_(std::move(gpu)), notice_(std::move(notice)) {}

  [[nodiscard]] DeviceId id() const noexcept override { return {DeviceKind::kCpu, 0}; }
  [[nodiscard]] bool reads_host_memory() const noexcept override { return true; }
  [[nodiscard]] Result<std::unique_ptr<SlotMemory>> make_slot(const SlotBytes& size) override {
    const std::size_t size_bytes = host_offset_bytes(size) + size.host;
    XTTS_ASSIGN(HostMemory memory,
                HostMemory::allocate(std::max<std::size_t>(size_bytes, 1), place()));
    if (lock_memory_ && !memory.lock()) was_refused_lock_ = true;
    std::optional<cuda::HostLock> locked;
    if (gpu_ != nullptr) {
      XTTS_ASSIGN(locked, cuda::HostLock::lock(gpu_, memory.bytes()));
    }
    return std::unique_ptr<SlotMemory>(
        std::make_unique<CpuSlot>(shared_from_this(), std::move(memory), std::move(locked), size));
  }

  [[nodiscard]] std::string shortfall() const override {
    if (!was_refused_lock_) return notice_;
    return (notice_.empty() ? "" : notice_ + "; ") +
           "slots could not be locked in memory: raise the limit with `ulimit -l`";
  }

 private:
  [[nodiscard]] HostMemory::Place place() const {
    if (gpu_ == nullptr) return {};
    return {.numa_node = gpu_->numa_node(), .is_kept_from_children = true};
  }

  bool lock_memory_;
  std::shared_ptr<const cuda::Context> gpu_;
  std::string notice_;
  std::atomic<bool> was_refused_lock_ = false;
};

}  // namespace

Result<std::shared_ptr<Device>> open_cpu(const DeviceOptions& options, std::string notice) {
  return std::shared_ptr<Device>(std::make_shared<CpuDevice>(options, nullptr, std::move(notice)));
}

Result<std::shared_ptr<Device>> open_pinned(const DeviceOptions& options) {
  auto gpu = cuda::Context::open(0);
  if (!gpu.ok()) {
    return open_cpu(options, "slots are not page-locked, because " + gpu.status().message());
  }
  return std::shared_ptr<Device>(std::make_shared<CpuDevice>(options, std::move(*gpu), ""));
}

}  // namespace xtts::device
