// The CPU as a device. Failures: as Device.
#pragma once

#include <memory>

#include "device/device.hpp"

namespace xtts::device {

[[nodiscard]] Result<std::shared_ptr<Device>> open_cpu(const DeviceOptions& options);

}  // namespace xtts::device
