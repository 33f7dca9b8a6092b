// The CPU as a device. Failures: as Device.
#pragma once

#include <memory>
#include <string>

#include "device/device.hpp"

namespace xtts::device {

// `notice` is what shortfall() says first.
[[nodiscard]] Result<std::shared_ptr<Device>> open_cpu(const DeviceOptions& options,
                                                       std::string notice = {});

// The same, with slots that are page-locked for GPUs. Where there is no GPU they are not, and
// shortfall() says why. A forked child does not get such slots.
[[nodiscard]] Result<std::shared_ptr<Device>> open_pinned(const DeviceOptions& options);

}  // namespace xtts::device
