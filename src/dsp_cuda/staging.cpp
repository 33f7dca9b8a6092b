#include "dsp_cuda/staging.hpp"

#include <bit>
#include <utility>

#include "base/try.hpp"

namespace xtts::dsp_cuda {

Status Staging::make_room(std::size_t size_bytes) {
  if (size_bytes <= size_bytes_) return {};
  size_bytes = std::bit_ceil(size_bytes);  // page-locking takes time: seldom
  size_bytes_ = 0;
  lock_.reset();
  host_.reset();
  device_ = cuda::DeviceMemory();
  const auto& context = pool_->context();
  XTTS_ASSIGN(host_, device::HostMemory::allocate(size_bytes, {.numa_node = context->numa_node(),
                                                               .is_kept_from_children = true}));
  XTTS_ASSIGN(lock_, cuda::HostLock::lock(context, host_->bytes()));
  XTTS_ASSIGN(device_, pool_->allocate(size_bytes));
  size_bytes_ = size_bytes;
  return {};
}

Status Staging::copy_in(std::size_t size_bytes, const cuda::Stream& stream) const {
  const auto& context = pool_->context();
  return context->run("copying samples to " + context->label(),
                      [&](const cuda::DriverCalls& calls) {
                        return calls.copy_to_device(device(), host(), size_bytes, stream.handle());
                      });
}

Status Staging::copy_out(std::size_t offset_bytes, cuda::DeviceAddress from, std::size_t size_bytes,
                         const cuda::Stream& stream) const {
  const auto& context = pool_->context();
  return context->run(
      "copying frames from " + context->label(), [&](const cuda::DriverCalls& calls) {
        return calls.copy_to_host(host() + offset_bytes, from, size_bytes, stream.handle());
      });
}

void Staging::abandon() noexcept {
  if (lock_) lock_->abandon();
  if (host_) host_->abandon();
  device_.abandon();
}

}  // namespace xtts::dsp_cuda
