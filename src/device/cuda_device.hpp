// A GPU as a device: slots are page-locked memory of the host, memory of the GPU, and a stream.
// Failures: as Device.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace xtts::device {

// `data_number`: the GPU of DeviceOptions::data_device, or `number`. kUnsupported: no driver, no
// such GPU, no kernels for it in this build.
[[nodiscard]] Result<std::shared_ptr<Device>> open_cuda(int number, int data_number,
                                                        const DeviceOptions& options);

}  // namespace xtts::device
