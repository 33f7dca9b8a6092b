// The CPU as a device, and the table of devices.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/try.hpp"
#include "gpu/device.hpp"
#include "gpu/host_memory.hpp"

namespace xtts::gpu {
namespace {

template <typename Element>
void fill_elements(std::span<std::byte> out, std::uint64_t bits) noexcept {
  const auto element = static_cast<Element>(bits);
  // By bytes: the range begins on an element, but its memory has no such type to the compiler.
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

class CpuSlot final : public SlotMemory {
 public:
  CpuSlot(std::shared_ptr<const Device> device, HostMemory memory)
      : device_(std::move(device)), memory_(std::move(memory)) {}

  [[nodiscard]] std::span<std::byte> host() noexcept override { return memory_.bytes(); }
  void fill(std::size_t offset_bytes, std::size_t size_bytes,
            const Pattern& pattern) noexcept override {
    fill_bytes(memory_.bytes().subspan(offset_bytes, size_bytes), pattern);
  }
  [[nodiscard]] Status upload() override { return {}; }  // it is where it is read
  [[nodiscard]] Status wait_for_upload() override { return {}; }
  [[nodiscard]] const std::byte* consumer_data() const noexcept override {
    return memory_.bytes().data();
  }

 private:
  std::shared_ptr<const Device> device_;
  HostMemory memory_;
};

class CpuDevice final : public Device, public std::enable_shared_from_this<CpuDevice> {
 public:
  explicit CpuDevice(const DeviceOptions& options) : lock_memory_(options.lock_memory) {}

  [[nodiscard]] Result<std::unique_ptr<SlotMemory>> make_slot(std::size_t size_bytes) override {
    XTTS_ASSIGN(HostMemory memory, HostMemory::allocate(std::max<std::size_t>(size_bytes, 1)));
    if (lock_memory_ && !memory.lock()) was_refused_lock_ = true;
    return std::unique_ptr<SlotMemory>(
        std::make_unique<CpuSlot>(shared_from_this(), std::move(memory)));
  }

  [[nodiscard]] std::string shortfall() const override {
    if (!was_refused_lock_) return {};
    return "slots could not be locked in memory: raise the limit with `ulimit -l`";
  }

 private:
  bool lock_memory_;
  std::atomic<bool> was_refused_lock_ = false;
};

}  // namespace

Result<std::shared_ptr<Device>> Device::open(std::string_view name, const DeviceOptions& options) {
  if (name == "cpu") return std::shared_ptr<Device>(std::make_shared<CpuDevice>(options));
  return Status(StatusCode::kUnsupported,
                "there is no device '" + std::string(name) + "' in this build; there is: cpu");
}

}  // namespace xtts::gpu
