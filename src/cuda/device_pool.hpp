// Memory of a GPU, out of one pool for each GPU and process, and memory of the host that is
// page-locked for copies.
//
// The pool exists because giving memory back to the driver waits for the whole GPU. Memory that
// comes back stays in the pool, for the next reader. When the last owner of the pool goes, all of
// it goes back to the driver.
//
// Any number of threads. Failures: kResource (no memory, or the pool's limit), and Context's.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "cuda/owned.hpp"

namespace xtts::cuda {

class DeviceMemory;

// The limit of a pool's memory, for all its users.
struct MemoryLimit {
  std::size_t bytes = 0;                  // 0: no limit but the GPU's memory
  const char* setting = "device_memory";  // the user's name of it
};

class DevicePool : public std::enable_shared_from_this<DevicePool> {
 public:
  // The one pool of the context's GPU.
  [[nodiscard]] static std::shared_ptr<DevicePool> of(
      const std::shared_ptr<const Context>& context);
  ~DevicePool();
  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;

  [[nodiscard]] const std::shared_ptr<const Context>& context() const noexcept { return context_; }
  [[nodiscard]] Result<DeviceMemory> allocate(std::size_t size_bytes,
                                              const MemoryLimit& limit = {});
  // The bytes that the pool has from the driver, in use or not.
  [[nodiscard]] std::size_t held_bytes() const;

 private:
  friend class DeviceMemory;
  explicit DevicePool(std::shared_ptr<const Context> context) : context_(std::move(context)) {}
  [[nodiscard]] bool take_free(std::size_t size_bytes, DeviceMemory& memory);
  [[nodiscard]] Status allocate_from_driver(std::size_t size_bytes, DeviceMemory& memory);
  void give_back_all() noexcept;
  void give_back(DeviceAddress address, std::size_t size_bytes) noexcept;

  std::shared_ptr<const Context> context_;
  mutable std::mutex mutex_;                        // guards the two below
  std::multimap<std::size_t, DeviceAddress> free_;  // by size
  std::size_t held_bytes_ = 0;
};

// Give it back when the work that uses it is done: the next owner writes to it at once. Move-only.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept { *this = std::move(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;

  [[nodiscard]] DeviceAddress address() const noexcept { return address_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }
  // Never gives the memory back: work that could not be waited for may still use it.
  void abandon() noexcept { pool_ = nullptr; }

 private:
  friend class DevicePool;
  std::shared_ptr<DevicePool> pool_;
  DeviceAddress address_ = 0;
  std::size_t size_bytes_ = 0;  // of the block, which may be larger than what was asked for
};

// Page-locks memory of the host while it lives, so that a GPU copies it by itself. The memory must
// live longer. Move-only.
class HostLock {
 public:
  [[nodiscard]] static Result<HostLock> lock(std::shared_ptr<const Context> context,
                                             std::span<std::byte> memory);
  // Never unlocks the memory: a copy that could not be waited for may still read it.
  void abandon() noexcept { memory_.abandon(); }

 private:
  using Handle = Owned<void*, &DriverCalls::unlock_host_memory>;
  explicit HostLock(Handle memory) noexcept : memory_(std::move(memory)) {}

  Handle memory_;
};

}  // namespace xtts::cuda
