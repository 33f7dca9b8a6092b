// The CPU as a device. Failures: as Device.
#pragma once

#include <memory>
#include <string>

#include "device/device.hpp"

namespace xtts::device {

// `notice` is what shortfall() says first.
[[nodiscard]] Result<std::shared_ptr<Device>> open_cpu(const DeviceOptions& options,
                                                       std::string notice = {});

}  // namespace xtts::device
