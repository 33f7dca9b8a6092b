// DeviceId says where memory lies: the kind of device, in DLPack's numbers, and its number.
#pragma once

#include <cstdint>
#include <string>

namespace xtts {

// The values of DLPack's DLDeviceType. A newer library may have more.
enum class DeviceKind : std::int32_t {
  kCpu = 1,
  kCuda = 2,
};

struct DeviceId {
  DeviceKind kind = DeviceKind::kCpu;
  std::int32_t number = 0;

  // True where any thread of this process may read the memory.
  [[nodiscard]] constexpr bool is_host() const noexcept { return kind == DeviceKind::kCpu; }
  friend constexpr bool operator==(const DeviceId&, const DeviceId&) noexcept = default;
};

// "cpu", "cuda:0".
[[nodiscard]] inline std::string to_string(const DeviceId& device) {
  if (device.kind == DeviceKind::kCpu) return "cpu";
  const std::string number = ":" + std::to_string(device.number);
  if (device.kind == DeviceKind::kCuda) return "cuda" + number;
  return "device " + std::to_string(static_cast<std::int32_t>(device.kind)) + number;
}

}  // namespace xtts
