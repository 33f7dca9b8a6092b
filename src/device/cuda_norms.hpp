// CudaNorms: the numbers that a GPU normalizes by, in its memory. Each ChannelNorm is copied there
// once, at its first use. Any number of threads. Failures: kResource.
#pragma once

#include <map>
#include <mutex>

#include "base/channel_norm.hpp"
#include "cuda/device_pool.hpp"
#include "cuda/stream.hpp"
#include "device/host_memory.hpp"

namespace xtts::device {

class CudaNorms {
 public:
  struct Tables {
    cuda::DeviceAddress means = 0;
    cuda::DeviceAddress divisors = 0;
  };
  // `norm` must outlive this object. The first call for it waits for the copy, which goes through
  // `stream`. So all streams may read the tables afterwards.
  [[nodiscard]] Result<Tables> find(const ChannelNorm& norm, cuda::DevicePool& pool,
                                    const cuda::Stream& stream);

 private:
  std::mutex mutex_;  // guards the map
  std::map<const ChannelNorm*, cuda::DeviceMemory> tables_;
};

}  // namespace xtts::device
