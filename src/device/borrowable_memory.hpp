// BorrowableMemory: memory of which a device's slots can borrow pieces (SlotMemory::borrow()). It
// is the host's, page-locked where the device is a GPU, or a GPU's own. Move-only, owns its pages.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "base/checked.hpp"
#include "cuda/memory.hpp"
#include "device/host_memory.hpp"

namespace xtts::device {

class BorrowableMemory {
 public:
  static constexpr std::size_t kAlignmentBytes = 4096;  // of pages

  explicit BorrowableMemory(HostMemory memory, std::optional<cuda::HostLock> locked = {})
      : memory_(std::move(memory)), locked_(std::move(locked)), bytes_(memory_->bytes()) {}
  // `gpu_memory` has kAlignmentBytes more than this memory.
  explicit BorrowableMemory(cuda::DeviceMemory gpu_memory)
      : gpu_memory_(std::move(gpu_memory)),
        // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the GPU, which nobody follows
        bytes_(reinterpret_cast<std::byte*>(align_up(gpu_memory_->address(), kAlignmentBytes)),
               gpu_memory_->size_bytes() - kAlignmentBytes) {}

  // Begins at a multiple of kAlignmentBytes.
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
  // True: the host cannot touch it.
  [[nodiscard]] bool is_of_gpu() const noexcept { return gpu_memory_.has_value(); }
  // Never frees the pages, because a disk may still write to them.
  void abandon() noexcept {
    if (memory_) memory_->abandon();
    if (gpu_memory_) gpu_memory_->abandon();
  }
  // Never unlocks them either, because the device may still read them.
  void abandon_to_device() noexcept {
    if (locked_) locked_->abandon();
    abandon();
  }

 private:
  std::optional<HostMemory> memory_;
  std::optional<cuda::HostLock> locked_;  // unlocked before the memory goes
  std::optional<cuda::DeviceMemory> gpu_memory_;
  std::span<std::byte> bytes_;
};

}  // namespace xtts::device
