// The table of devices: the ones of this build, and added ones.
#include <map>
#include <mutex>
#include <utility>

#include "device/cpu_device.hpp"
#include "device/device.hpp"

namespace xtts::device {
namespace {

struct Table {
  std::mutex mutex;  // guards the entries
  std::map<std::string, AddedDevice::Open, std::less<>> entries{{"cpu", open_cpu}};
};

Table& table() {
  static Table devices;
  return devices;
}

}  // namespace

Result<std::shared_ptr<Device>> Device::open(std::string_view name, const DeviceOptions& options) {
  AddedDevice::Open open;
  std::string names;
  {
    const std::scoped_lock lock(table().mutex);
    for (const auto& [known, opens] : table().entries) {
      if (known == name) open = opens;
      names += (names.empty() ? "" : ", ") + known;
    }
  }
  if (open) return open(options);
  return Status(StatusCode::kUnsupported,
                "there is no device '" + std::string(name) + "' in this build; there is: " + names);
}

AddedDevice::AddedDevice(std::string name, Open open) : name_(std::move(name)) {
  const std::scoped_lock lock(table().mutex);
  table().entries.insert_or_assign(name_, std::move(open));
}

AddedDevice::~AddedDevice() {
  const std::scoped_lock lock(table().mutex);
  table().entries.erase(name_);
}

}  // namespace xtts::device
