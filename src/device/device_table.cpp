// The table of devices: the ones of this build, and added ones.
#include <charconv>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/formatted.hpp"
#include "device/cpu_device.hpp"
#include "device/cuda_device.hpp"
#include "device/device.hpp"

namespace xtts::device {
namespace {

struct Table {
  std::mutex mutex;  // guards the entries
  std::map<std::string, AddedDevice::Open, std::less<>> added;
};

Table& table() {
  static Table devices;
  return devices;
}

AddedDevice::Open find_added(std::string_view name) {
  const std::scoped_lock lock(table().mutex);
  const auto found = table().added.find(name);
  return found == table().added.end() ? AddedDevice::Open() : found->second;
}

// The number in "cuda:N"; 0 for "cuda". Nothing: the name is another one.
std::optional<int> gpu_number(std::string_view name) {
  constexpr std::string_view kPrefix = "cuda";
  if (!name.starts_with(kPrefix)) return {};
  name.remove_prefix(kPrefix.size());
  if (name.empty()) return 0;
  if (name.front() != ':') return {};
  name.remove_prefix(1);
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = error == std::errc() && end == name.data() + name.size() && number >= 0;
  return is_number ? std::optional(number) : std::nullopt;
}

Result<std::shared_ptr<Device>> open_gpu(int number, const DeviceOptions& options) {
  if (options.data_device.empty()) return open_cuda(number, number, options);
  const auto data_number = gpu_number(options.data_device);
  if (data_number) return open_cuda(number, *data_number, options);
  return Status(StatusCode::kInvalidArgument,
                formatted("data_device is a GPU, as in cuda:0, not '{}'", options.data_device));
}

// The CPU stands in for the consumer's GPU, but not for a data_device that was named.
Result<std::shared_ptr<Device>> open_any(const DeviceOptions& options) {
  auto gpu = open_gpu(0, options);
  if (gpu.ok() || gpu.status().code() == StatusCode::kInvalidArgument) return gpu;
  if (!options.data_device.empty() && open_cuda(0, 0, options).ok()) return gpu;
  return open_cpu(
      options, "device auto: batches stay in the CPU's memory, because " + gpu.status().message());
}

}  // namespace

Result<std::shared_ptr<Device>> Device::open(std::string_view name, const DeviceOptions& options) {
  if (const auto open = find_added(name)) return open(options);
  if (name == "auto") return open_any(options);
  if (const auto number = gpu_number(name)) return open_gpu(*number, options);
  if (!options.data_device.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "data_device is for batches on a GPU: ask for device cuda:N, too");
  }
  if (name == "cpu") return open_cpu(options);
  if (name == "pinned") return open_pinned(options);
  return Status(
      StatusCode::kUnsupported,
      formatted("there is no device '{}'; there is: cpu, pinned, cuda, cuda:N, auto", name));
}

AddedDevice::AddedDevice(std::string name, Open open) : name_(std::move(name)) {
  const std::scoped_lock lock(table().mutex);
  table().added.insert_or_assign(name_, std::move(open));
}

AddedDevice::~AddedDevice() {
  const std::scoped_lock lock(table().mutex);
  table().added.erase(name_);
}

}  // namespace xtts::device
