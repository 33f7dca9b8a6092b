#include "cuda/device_pool.hpp"

#include <string>

#include "base/checked.hpp"
#include "base/formatted.hpp"

namespace xtts::cuda {
namespace {

constexpr std::size_t kBlockAlignment = 512;  // blocks of like sizes become one size
constexpr std::size_t kMiB = std::size_t{1} << 20U;

std::string in_mib(std::size_t size_bytes) {
  return formatted("{} MiB", (size_bytes + kMiB - 1) / kMiB);
}

struct Pools {
  std::mutex mutex;
  std::map<int, std::weak_ptr<DevicePool>> by_gpu;
};

Pools& pools() {
  static Pools all;
  return all;
}

}  // namespace

std::shared_ptr<DevicePool> DevicePool::of(const std::shared_ptr<const Context>& context) {
  const std::scoped_lock lock(pools().mutex);
  std::weak_ptr<DevicePool>& known = pools().by_gpu[context->number()];
  std::shared_ptr<DevicePool> pool = known.lock();
  if (pool == nullptr) {
    pool.reset(new DevicePool(context));
    known = pool;
  }
  return pool;
}

DevicePool::~DevicePool() {
  give_back_all();
}

// Takes the smallest block that is large enough, and no more than twice as large.
bool DevicePool::take_free(std::size_t size_bytes, DeviceMemory& memory) {
  const auto found = free_.lower_bound(size_bytes);
  if (found == free_.end() || found->first > 2 * size_bytes) return false;
  memory.size_bytes_ = found->first;
  memory.address_ = found->second;
  free_.erase(found);
  return true;
}

Result<DeviceMemory> DevicePool::allocate(std::size_t size_bytes, const MemoryLimit& limit) {
  size_bytes = align_up(size_bytes, kBlockAlignment);
  DeviceMemory memory;
  const std::scoped_lock lock(mutex_);
  if (!take_free(size_bytes, memory)) {
    const bool is_over = limit.bytes != 0 && held_bytes_ + size_bytes > limit.bytes;
    if (is_over) give_back_all();  // blocks of another size may be what fills it
    if (is_over && held_bytes_ + size_bytes > limit.bytes) {
      return Status(StatusCode::kResource,
                    formatted("readers may hold {} of {}'s memory, and this one needs {} beside "
                              "the {} in use: raise {}, or take fewer slots",
                              in_mib(limit.bytes), context_->label(), in_mib(size_bytes),
                              in_mib(held_bytes_), limit.setting));
    }
    XTTS_TRY(allocate_from_driver(size_bytes, memory));
  }
  memory.pool_ = shared_from_this();
  return memory;
}

// Where the GPU has no more, blocks of another size may be what fills it.
Status DevicePool::allocate_from_driver(std::size_t size_bytes, DeviceMemory& memory) {
  CallResult result = kSuccess;
  const auto allocate = [&] {
    return context_->run(formatted("allocating {} on {}", in_mib(size_bytes), context_->label()),
                         [&](const DriverCalls& calls) {
                           return result = calls.allocate(&memory.address_, size_bytes);
                         });
  };
  Status status = allocate();
  if (result == kOutOfMemory && !free_.empty()) {
    give_back_all();
    status = allocate();
  }
  XTTS_TRY(status);
  memory.size_bytes_ = size_bytes;
  held_bytes_ += size_bytes;
  return {};
}

std::size_t DevicePool::held_bytes() const {
  const std::scoped_lock lock(mutex_);
  return held_bytes_;
}

void DevicePool::give_back_all() noexcept {
  for (const auto& [size_bytes, address] : free_) {
    context_->run_quietly([&](const DriverCalls& calls) { return calls.free(address); });
    held_bytes_ -= size_bytes;
  }
  free_.clear();
}

void DevicePool::give_back(DeviceAddress address, std::size_t size_bytes) noexcept {
  const std::scoped_lock lock(mutex_);
  try {
    free_.emplace(size_bytes, address);
  } catch (...) {  // no memory for the note: the block goes back to the driver
    context_->run_quietly([&](const DriverCalls& calls) { return calls.free(address); });
    held_bytes_ -= size_bytes;
  }
}

DeviceMemory::~DeviceMemory() {
  if (pool_ != nullptr) pool_->give_back(address_, size_bytes_);
}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(address_, other.address_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

Result<HostLock> HostLock::lock(std::shared_ptr<const Context> context,
                                std::span<std::byte> memory) {
  XTTS_TRY(context->run(
      formatted("page-locking {} for {}", in_mib(memory.size()), context->label()),
      [&](const DriverCalls& calls) {
        return calls.lock_host_memory(memory.data(), memory.size(), kHostMemoryPortable);
      }));
  return HostLock({std::move(context), memory.data()});
}

}  // namespace xtts::cuda
