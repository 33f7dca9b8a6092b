// A libnvidia-ml.so.1 for tests: it answers what a file says. The environment variable XTTS_NVML
// names the file, which each call reads anew. Without the variable there are no GPUs.
//
//   gpus = 2                       # 16 at most
//   utilization = 2 40 2 40        # one value a call, in turn; then from the beginning
//   1.utilization = 90             # of the second GPU alone
//   power = !4                     # fails: NVML_ERROR_NO_PERMISSION
//   init = !9                      # NVML_ERROR_DRIVER_NOT_LOADED
//
// A key that the file lacks has the value of defaults(). Numbers are in NVML's units.
// Synchronised inside.

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "device/nvml_calls.hpp"

namespace xtts::device::nvml {

struct DeviceObject {
  unsigned index;
};

}  // namespace xtts::device::nvml

namespace {

using namespace xtts::device::nvml;

constexpr CallResult kUninitialized = 1;
constexpr CallResult kInvalidArgument = 2;
constexpr CallResult kInsufficientSize = 7;

const std::map<std::string, std::string>& defaults() {
  static const std::map<std::string, std::string> values = {
      {"init", "0"},
      {"gpus", "0"},
      {"domain", "0"},
      {"driver_version", "570.86.15"},
      {"cuda_version", "12080"},
      {"name", "NVIDIA Test GPU"},
      {"uuid", "GPU-00000000-0000-0000-0000-000000000000"},
      {"handle", "0"},
      {"memory_total", "25769803776"},
      {"memory_used", "1073741824"},
      {"utilization", "50"},
      {"memory_utilization", "20"},
      {"pcie_received", "1024"},
      {"pcie_sent", "512"},
      {"pcie_generation", "4"},
      {"pcie_width", "16"},
      {"pcie_generation_max", "4"},
      {"pcie_width_max", "16"},
      {"sm_clock", "2520"},
      {"memory_clock", "10501"},
      {"power", "123456"},
      {"power_limit", "450000"},
      {"temperature", "60"},
      {"reasons", "1"},
      {"common_ancestor", "30"},
      {"peer_reads", "0"},
      {"peer_nvlink", "5"},
  };
  return values;
}

std::mutex mutex;  // guards what stands below
bool is_started = false;
std::map<std::string, std::uint64_t> call_counts;
std::array<DeviceObject, 16> gpus;

std::string stripped(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::map<std::string, std::string> read_file() {
  std::map<std::string, std::string> values;
  const char* const path = std::getenv("XTTS_NVML");
  std::ifstream file(path == nullptr ? "" : path);
  for (std::string line; std::getline(file, line);) {
    line = line.substr(0, line.find('#'));
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    values[stripped(line.substr(0, equals))] = stripped(line.substr(equals + 1));
  }
  return values;
}

struct Answer {
  CallResult result = kSuccess;
  std::string text;
  [[nodiscard]] unsigned long long number() const {
    return std::strtoull(text.c_str(), nullptr, 10);
  }
};

// The next value of a key. `gpu` is null where the key is none of a GPU's.
Answer answer(const std::string& key, const DeviceObject* gpu = nullptr) {
  const auto file = read_file();
  auto found = gpu == nullptr ? file.end() : file.find(std::to_string(gpu->index) + "." + key);
  if (found == file.end()) found = file.find(key);
  std::string text = found == file.end() ? defaults().at(key) : found->second;
  const bool is_text = key == "name" || key == "uuid" || key == "driver_version";
  if (!is_text || text.starts_with('!')) {
    std::istringstream words(text);
    std::vector<std::string> in_turn;
    for (std::string word; words >> word;) in_turn.push_back(word);
    const std::string counter = (gpu == nullptr ? "" : std::to_string(gpu->index) + ".") + key;
    text = in_turn.empty() ? "" : in_turn[call_counts[counter]++ % in_turn.size()];
  }
  if (text.starts_with('!')) return {std::atoi(text.c_str() + 1), {}};
  return {kSuccess, text};
}

CallResult copy_text(const Answer& found, char* text, unsigned size) {
  if (found.result != kSuccess) return found.result;
  if (text == nullptr) return kInvalidArgument;
  if (found.text.size() >= size) return kInsufficientSize;
  std::memcpy(text, found.text.c_str(), found.text.size() + 1);
  return kSuccess;
}

template <typename Number>
CallResult copy_number(const Answer& found, Number* number) {
  if (found.result != kSuccess) return found.result;
  if (number == nullptr) return kInvalidArgument;
  *number = static_cast<Number>(found.number());
  return kSuccess;
}

// GPU N lies at DOMAIN:0(N+1):00.0.
std::string bus_id(unsigned index) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%08X:%02X:00.0",
                      static_cast<unsigned>(answer("domain").number()), index + 1);
  return text.data();
}

CallResult open_gpu(unsigned index, DeviceHandle* gpu) {
  gpus.at(index).index = index;
  if (const Answer found = answer("handle", &gpus[index]); found.result != kSuccess)
    return found.result;
  *gpu = &gpus[index];
  return kSuccess;
}

// Calls `ask` where NVML has been started.
template <typename Ask>
CallResult locked(Ask ask) {
  const std::scoped_lock lock(mutex);
  return is_started ? ask() : kUninitialized;
}

template <typename Number>
CallResult one_number(DeviceHandle gpu, const char* key, Number* number) {
  return locked(
      [&] { return gpu == nullptr ? kInvalidArgument : copy_number(answer(key, gpu), number); });
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

CallResult nvmlInit_v2() {
  const std::scoped_lock lock(mutex);
  const CallResult result = answer("init").result;
  is_started = is_started || result == kSuccess;
  return result;
}

const char* nvmlErrorString(CallResult result) {
  return result == 999 ? "Unknown Error" : "an error of the double";
}

CallResult nvmlSystemGetDriverVersion(char* text, unsigned size) {
  return locked([&] { return copy_text(answer("driver_version"), text, size); });
}

CallResult nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return locked([&] { return copy_number(answer("cuda_version"), version); });
}

CallResult nvmlDeviceGetCount_v2(unsigned* count) {
  return locked([&] { return copy_number(answer("gpus"), count); });
}

CallResult nvmlDeviceGetHandleByIndex_v2(unsigned index, DeviceHandle* gpu) {
  return locked(
      [&] { return index < answer("gpus").number() ? open_gpu(index, gpu) : kInvalidArgument; });
}

#ifndef XTTS_LACKS_BUS_ID
CallResult nvmlDeviceGetHandleByPciBusId_v2(const char* wanted, DeviceHandle* gpu) {
  return locked([&] {
    std::string place = wanted;
    std::ranges::transform(place, place.begin(),
                           [](unsigned char letter) { return std::toupper(letter); });
    if (place.find(':') == 4) place.insert(0, "0000");
    for (unsigned i = 0; i < answer("gpus").number(); ++i) {
      if (bus_id(i) == place) return open_gpu(i, gpu);
    }
    return kNotFound;
  });
}
#endif

CallResult nvmlDeviceGetName(DeviceHandle gpu, char* text, unsigned size) {
  return locked([&] { return copy_text(answer("name", gpu), text, size); });
}

CallResult nvmlDeviceGetUUID(DeviceHandle gpu, char* text, unsigned size) {
  return locked([&] { return copy_text(answer("uuid", gpu), text, size); });
}

CallResult nvmlDeviceGetPciInfo_v3(DeviceHandle gpu, PciInfo* info) {
  return locked([&] {
    *info = {};
    info->bus = gpu->index + 1;
    const std::string id = bus_id(gpu->index);
    std::ranges::copy(id, info->bus_id.begin());
    return kSuccess;
  });
}

CallResult nvmlDeviceGetMemoryInfo(DeviceHandle gpu, Memory* memory) {
  return locked([&] {
    const Answer used = answer("memory_used", gpu);
    if (used.result != kSuccess) return used.result;
    memory->total = answer("memory_total", gpu).number();
    memory->used = used.number();
    memory->free = memory->total - memory->used;
    return kSuccess;
  });
}

CallResult nvmlDeviceGetUtilizationRates(DeviceHandle gpu, Utilization* utilization) {
  return locked([&] {
    const Answer found = answer("utilization", gpu);
    if (found.result != kSuccess) return found.result;
    utilization->gpu = static_cast<unsigned>(found.number());
    utilization->memory = static_cast<unsigned>(answer("memory_utilization", gpu).number());
    return kSuccess;
  });
}

#ifndef XTTS_LACKS_PCIE_THROUGHPUT
CallResult nvmlDeviceGetPcieThroughput(DeviceHandle gpu, int counter, unsigned* kilobytes_per_s) {
  return one_number(gpu, counter == kPcieSent ? "pcie_sent" : "pcie_received", kilobytes_per_s);
}
#endif

CallResult nvmlDeviceGetCurrPcieLinkGeneration(DeviceHandle gpu, unsigned* value) {
  return one_number(gpu, "pcie_generation", value);
}

CallResult nvmlDeviceGetCurrPcieLinkWidth(DeviceHandle gpu, unsigned* value) {
  return one_number(gpu, "pcie_width", value);
}

CallResult nvmlDeviceGetMaxPcieLinkGeneration(DeviceHandle gpu, unsigned* value) {
  return one_number(gpu, "pcie_generation_max", value);
}

CallResult nvmlDeviceGetMaxPcieLinkWidth(DeviceHandle gpu, unsigned* value) {
  return one_number(gpu, "pcie_width_max", value);
}

CallResult nvmlDeviceGetClockInfo(DeviceHandle gpu, int type, unsigned* mhz) {
  return one_number(gpu, type == kMemoryClock ? "memory_clock" : "sm_clock", mhz);
}

CallResult nvmlDeviceGetPowerUsage(DeviceHandle gpu, unsigned* milliwatts) {
  return one_number(gpu, "power", milliwatts);
}

CallResult nvmlDeviceGetEnforcedPowerLimit(DeviceHandle gpu, unsigned* milliwatts) {
  return one_number(gpu, "power_limit", milliwatts);
}

CallResult nvmlDeviceGetTemperature(DeviceHandle gpu, int /*sensor*/, unsigned* celsius) {
  return one_number(gpu, "temperature", celsius);
}

#ifndef XTTS_LACKS_EVENT_REASONS
CallResult nvmlDeviceGetCurrentClocksEventReasons(DeviceHandle gpu, unsigned long long* reasons) {
  return one_number(gpu, "reasons", reasons);
}
#endif

CallResult nvmlDeviceGetCurrentClocksThrottleReasons(DeviceHandle gpu,
                                                     unsigned long long* reasons) {
  return one_number(gpu, "reasons", reasons);
}

CallResult nvmlDeviceGetTopologyCommonAncestor(DeviceHandle one, DeviceHandle /*other*/,
                                               int* level) {
  return one_number(one, "common_ancestor", level);
}

CallResult nvmlDeviceGetP2PStatus(DeviceHandle one, DeviceHandle /*other*/, int capability,
                                  int* status) {
  return one_number(one, capability == kPeerNvlink ? "peer_nvlink" : "peer_reads", status);
}

}  // extern "C"
#pragma GCC visibility pop
