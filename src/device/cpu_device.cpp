#include "device/cpu_device.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/checked.hpp"
#include "base/try.hpp"
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

constexpr std::size_t kPageBytes = 4096;

// The event of an upload that has nothing to copy: it has always happened.
class Always final : public Event {
 public:
  [[nodiscard]] Status wait() const override { return {}; }
  [[nodiscard]] Status let_wait(std::uintptr_t) const override { return {}; }
};

// One block of memory: staging(), then host() on the next page.
class CpuSlot final : public SlotMemory {
 public:
  CpuSlot(std::shared_ptr<const Device> device, HostMemory memory, const SlotBytes& size)
      : device_(std::move(device)), memory_(std::move(memory)), size_(size) {}

  [[nodiscard]] static std::size_t host_offset_bytes(const SlotBytes& size) {
    return align_up(size.staging, kPageBytes);
  }

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
  void end_lease() noexcept override {}

 private:
  std::shared_ptr<const Device> device_;
  HostMemory memory_;
  SlotBytes size_;
  Always uploaded_;
};

class CpuDevice final : public Device, public std::enable_shared_from_this<CpuDevice> {
 public:
  CpuDevice(const DeviceOptions& options, std::string notice)
      : lock_memory_(options.lock_memory), notice_(std::move(notice)) {}

  [[nodiscard]] DeviceId id() const noexcept override { return {DeviceKind::kCpu, 0}; }
  [[nodiscard]] bool reads_host_memory() const noexcept override { return true; }
  [[nodiscard]] Result<std::unique_ptr<SlotMemory>> make_slot(const SlotBytes& size) override {
    const std::size_t size_bytes = CpuSlot::host_offset_bytes(size) + size.host;
    XTTS_ASSIGN(HostMemory memory, HostMemory::allocate(std::max<std::size_t>(size_bytes, 1)));
    if (lock_memory_ && !memory.lock()) was_refused_lock_ = true;
    return std::unique_ptr<SlotMemory>(
        std::make_unique<CpuSlot>(shared_from_this(), std::move(memory), size));
  }

  [[nodiscard]] std::string shortfall() const override {
    if (!was_refused_lock_) return notice_;
    return (notice_.empty() ? "" : notice_ + "; ") +
           "slots could not be locked in memory: raise the limit with `ulimit -l`";
  }

 private:
  bool lock_memory_;
  std::string notice_;
  std::atomic<bool> was_refused_lock_ = false;
};

}  // namespace

Result<std::shared_ptr<Device>> open_cpu(const DeviceOptions& options, std::string notice) {
  return std::shared_ptr<Device>(std::make_shared<CpuDevice>(options, std::move(notice)));
}

}  // namespace xtts::device
