// Staging: page-locked memory of the host, and as much memory of a GPU. It grows by being made
// anew, and forgets what it held. One thread at a time. Failures: kResource, and Context's.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "cuda/device_pool.hpp"
#include "cuda/stream.hpp"
#include "device/host_memory.hpp"

namespace xtts::dsp_cuda {

class Staging {
 public:
  explicit Staging(std::shared_ptr<cuda::DevicePool> pool) : pool_(std::move(pool)) {}
  // All copies must be over.
  [[nodiscard]] Status make_room(std::size_t size_bytes);

  [[nodiscard]] std::byte* host() const noexcept { return host_->bytes().data(); }
  [[nodiscard]] cuda::DeviceAddress device() const noexcept { return device_.address(); }
  // Each puts a copy on the stream: of the first bytes to the GPU, or of bytes of the GPU to the
  // host's side at an offset.
  [[nodiscard]] Status copy_in(std::size_t size_bytes, const cuda::Stream& stream) const;
  [[nodiscard]] Status copy_out(std::size_t offset_bytes, cuda::DeviceAddress from,
                                std::size_t size_bytes, const cuda::Stream& stream) const;
  // Never gives the memory back: copies that could not be waited for may still use it.
  void abandon() noexcept;

 private:
  std::shared_ptr<cuda::DevicePool> pool_;
  // In this order: the lock goes before its memory.
  std::optional<device::HostMemory> host_;
  std::optional<cuda::HostLock> lock_;
  cuda::DeviceMemory device_;
  std::size_t size_bytes_ = 0;
};

}  // namespace xtts::dsp_cuda
