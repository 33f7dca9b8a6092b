// BorrowableMemory: memory of the host of which a device's slots can borrow pieces
// (SlotMemory::borrow()); page-locked where the device is a GPU. Move-only, owns its pages.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "cuda/device_pool.hpp"
#include "device/host_memory.hpp"

namespace xtts::device {

class BorrowableMemory {
 public:
  explicit BorrowableMemory(HostMemory memory, std::optional<cuda::HostLock> locked = {})
      : memory_(std::move(memory)), locked_(std::move(locked)) {}

  // Begins on a page.
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return memory_.bytes(); }
  // Never frees the pages, because a disk may still write to them.
  void abandon() noexcept { memory_.abandon(); }
  // Never unlocks them either, because the device may still read them.
  void abandon_to_device() noexcept {
    if (locked_) locked_->abandon();
    abandon();
  }

 private:
  HostMemory memory_;
  std::optional<cuda::HostLock> locked_;  // unlocked before the memory goes
};

}  // namespace xtts::device
