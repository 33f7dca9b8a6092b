#include "cuda/context.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

#include "base/formatted.hpp"

namespace xtts::cuda {
namespace {

constexpr int kArchitectureMin = 75;

std::string in_words(int architecture) {
  return formatted("{}.{}", architecture / 10, architecture % 10);
}

}  // namespace

Result<std::shared_ptr<const Context>> Context::open(int number) {
  XTTS_ASSIGN(const Driver* driver, Driver::open());
  XTTS_TRY(check_number(*driver, number));
  std::shared_ptr<Context> context(new Context(*driver, number));
  XTTS_TRY(context->retain());
  XTTS_TRY(context->find_facts());
  return std::shared_ptr<const Context>(std::move(context));
}

Status Context::check_number(const Driver& driver, int number) {
  const int count = driver.device_count();
  if (number >= 0 && number < count) return {};
  return {StatusCode::kUnsupported, formatted("there is no GPU cuda:{}: the NVIDIA driver shows "
                                              "{}{}. CUDA_VISIBLE_DEVICES chooses which",
                                              number, count, count == 1 ? " (cuda:0)" : "")};
}

Result<std::string> Context::pci_bus_id(int number) {
  XTTS_ASSIGN(const Driver* driver, Driver::open());
  XTTS_TRY(check_number(*driver, number));
  const std::string what = formatted("asking where cuda:{} is", number);
  DeviceOrdinal device = 0;
  XTTS_TRY(driver->check(driver->calls().device_get(&device, number), what));
  std::array<char, 64> id{};
  XTTS_TRY(
      driver->check(driver->calls().device_pci_bus_id(id.data(), id.size() - 1, device), what));
  std::string place = id.data();
  std::ranges::transform(place, place.begin(),
                         [](unsigned char letter) { return std::tolower(letter); });
  return place;
}

Context::~Context() {
  if (handle_ == nullptr || !driver_->may_be_called()) return;
  (void)driver_->calls().release_context(device_);
}

Status Context::retain() {
  const std::string what = "opening " + label();
  XTTS_TRY(driver_->check(driver_->calls().device_get(&device_, number_), what));
  return driver_->check(driver_->calls().retain_context(&handle_, device_), what);
}

Status Context::find_facts() {
  const DriverCalls& calls = driver_->calls();
  const std::string what = formatted("asking what {} is", label());
  std::array<char, 256> name{};
  XTTS_TRY(driver_->check(calls.device_name(name.data(), name.size() - 1, device_), what));
  gpu_name_ = name.data();
  int major = 0;
  int minor = 0;
  XTTS_TRY(driver_->check(calls.device_attribute(&major, kAttributeComputeMajor, device_), what));
  XTTS_TRY(driver_->check(calls.device_attribute(&minor, kAttributeComputeMinor, device_), what));
  architecture_ = 10 * major + minor;
  if (architecture_ < kArchitectureMin) {
    return {StatusCode::kUnsupported,
            formatted("{} ({}) has compute capability {}, and {} is needed: take the device 'cpu'",
                      label(), gpu_name_, in_words(architecture_), in_words(kArchitectureMin))};
  }
  const Result<std::string> place = pci_bus_id(number_);
  if (place.ok()) pci_bus_id_ = *place;
  numa_node_ = find_numa_node();
  return {};
}

// The kernel knows the node by the GPU's place on the bus.
std::optional<int> Context::find_numa_node() const {
  if (pci_bus_id_.empty()) return {};
  std::ifstream file(formatted("/sys/bus/pci/devices/{}/numa_node", pci_bus_id_));
  int node = -1;
  if (!(file >> node) || node < 0) return {};
  return node;
}

void Context::enable_peer(const Context& other) const noexcept {
  run_quietly([&](const DriverCalls& calls) {
    int can = 0;
    const CallResult asked = calls.can_access_peer(&can, device_, other.device_);
    // A framework of this process may have enabled it before: that is a failure, and no harm.
    return asked == kSuccess && can != 0 ? calls.enable_peer(other.handle_, 0) : asked;
  });
}

Status Context::check_process() const {
  if (driver_->may_be_called()) return {};
  return {StatusCode::kUnsupported,
          label() +
              " was opened before this process was forked, and cannot be used in it: open "
              "the device in the worker, and start workers with the method 'spawn'"};
}

Result<Context::FreeMemory> Context::memory() const {
  FreeMemory memory;
  XTTS_TRY(run(formatted("asking {} for its free memory", label()), [&](const DriverCalls& calls) {
    return calls.memory_info(&memory.free_bytes, &memory.total_bytes);
  }));
  return memory;
}

}  // namespace xtts::cuda
