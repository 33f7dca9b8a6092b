#include "device/gpu_monitor.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <utility>

#include "base/fork_count.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cuda/library.hpp"

namespace xtts::device {
namespace {

using nvml::CallResult;

// NVML's unit: "1KB granularity" in its header.
constexpr std::uint64_t kKilobyte = 1024;

// The clocks' reasons, by their bits. Bit 0, an idle GPU, slows nothing down.
constexpr std::pair<std::uint64_t, std::string_view> kThrottleReasons[] = {
    {0x002, "its application clocks are set lower"},
    {0x004, "power limit"},
    {0x008, "hardware slowdown (heat or power)"},
    {0x010, "sync boost with another GPU"},
    {0x020, "heat (driver)"},
    {0x040, "heat (hardware)"},
    {0x080, "power brake of the power supply"},
    {0x100, "its display clocks are set lower"},
};

// fork_count() when NVML was first opened, plus 1. 0: not yet. No mutex guards it, because a forked
// child may find a mutex held for ever.
std::atomic<std::uint32_t> first_opened = 0;

bool was_opened_before_fork() noexcept {
  const std::uint32_t first = first_opened;
  return first != 0 && first != fork_count() + 1;
}

Status forked() {
  return {StatusCode::kUnsupported,
          "NVML cannot be asked in a process that was forked after NVML was opened: start workers "
          "with the method 'spawn'"};
}

std::string_view way_of(int level) {
  switch (level) {
    case nvml::kSameBoard:
      return "on one board";
    case nvml::kOneSwitch:
      return "through one PCIe switch";
    case nvml::kSwitches:
      return "through several PCIe switches";
    case nvml::kHostBridge:
      return "through the processor's PCIe bridge";
    case nvml::kNode:
      return "through several PCIe bridges of one processor";
    case nvml::kSystem:
      return "through the link between two processors";
    default:
      return "";
  }
}

Status too_old(const char* symbol) {
  return {StatusCode::kUnsupported,
          "the NVIDIA driver is too old: its management library lacks " + std::string(symbol)};
}

Result<nvml::Calls> load(const std::string& library_name) {
  const std::array<const char*, 1> names = {library_name.c_str()};
  const auto library = cuda::open_library(names);
  if (!library.ok()) {
    return Status(StatusCode::kUnsupported, "this machine has no NVIDIA management library (" +
                                                library.status().message() +
                                                "), which the NVIDIA driver brings");
  }
  nvml::Calls calls;
#define XTTS_FIND(name, symbol, parameters) (void)cuda::find_call(*library, #symbol, calls.name);
#define XTTS_NEED(name, symbol, parameters) \
  if (!cuda::find_call(*library, #symbol, calls.name)) return too_old(#symbol);
  XTTS_NVML_NEEDED_CALLS(XTTS_NEED)
  XTTS_NVML_OTHER_CALLS(XTTS_FIND)
#undef XTTS_NEED
#undef XTTS_FIND
  (void)cuda::find_call(*library, "nvmlErrorString", calls.error_text);
  return calls;
}

// NVML writes domains with eight digits, CUDA with four: "00000000:0A:00.0" is "0000:0a:00.0". A
// domain that needs more than four digits keeps them.
std::string as_cuda_writes(std::string bus_id) {
  std::ranges::transform(bus_id, bus_id.begin(),
                         [](unsigned char letter) { return std::tolower(letter); });
  const std::size_t domain_digits = bus_id.find(':');
  if (domain_digits == 8 && bus_id.starts_with("0000")) bus_id.erase(0, 4);
  return bus_id;
}

}  // namespace

std::string in_words(std::span<const Missing> missing) {
  std::string words;
  std::vector<std::string_view> reasons;
  for (const Missing& one : missing) {
    if (std::ranges::find(reasons, one.reason) == reasons.end()) reasons.push_back(one.reason);
  }
  for (const std::string_view reason : reasons) {
    if (!words.empty()) words += "; ";
    bool is_first = true;
    for (const Missing& one : missing) {
      if (one.reason != reason) continue;
      words += (is_first ? "" : ", ") + std::string(one.value);
      is_first = false;
    }
    words += ": " + std::string(reason);
  }
  return words;
}

Result<std::shared_ptr<const GpuMonitor>> GpuMonitor::open(const std::string& library) {
  if (was_opened_before_fork()) return forked();
  XTTS_ASSIGN(const nvml::Calls calls, load(library));
  std::uint32_t not_yet = 0;
  first_opened.compare_exchange_strong(not_yet, fork_count() + 1);
  const std::shared_ptr<const GpuMonitor> monitor(new GpuMonitor(calls));
  // NVML counts how often it was started; later starts cost little.
  XTTS_TRY(monitor->check(calls.init(), "starting NVML"));
  return monitor;
}

GpuMonitor::GpuMonitor(const nvml::Calls& calls) : calls_(calls), forks_(fork_count()) {}

bool GpuMonitor::may_be_called() const noexcept {
  return fork_count() == forks_;
}

Status GpuMonitor::check_process() const {
  return may_be_called() ? Status() : forked();
}

std::string GpuMonitor::reason(CallResult result) const {
  switch (result) {
    case nvml::kNotSupported:
      return "the GPU does not tell";
    case nvml::kNoPermission:
      return "this user has no permission to ask";
    case nvml::kDriverNotLoaded:
      return "the NVIDIA driver is not loaded";
    case nvml::kFunctionNotFound:
      return "the NVIDIA driver is too old";
    case nvml::kGpuIsLost:
      return "the GPU is lost: it has fallen off the bus. Restart the machine";
    case nvml::kDriverMismatch:
      return "the NVIDIA driver's library and its kernel module are of different versions: restart "
             "the machine after the update";
    default:
      break;
  }
  const char* const text = calls_.error_text == nullptr ? nullptr : calls_.error_text(result);
  return formatted("NVML says {} (error {})", text == nullptr ? "nothing more than a number" : text,
                   result);
}

Status GpuMonitor::check(CallResult result, std::string_view what) const {
  if (result == nvml::kSuccess) return {};
  const bool is_absent = result == nvml::kDriverNotLoaded || result == nvml::kDriverMismatch ||
                         result == nvml::kNoPermission || result == nvml::kFunctionNotFound;
  return {is_absent ? StatusCode::kUnsupported : StatusCode::kResource,
          formatted("{}: {}", what, reason(result))};
}

template <typename Call, typename... Arguments>
bool GpuMonitor::ask(std::vector<Missing>& missing, std::string_view value, Call call,
                     Arguments... arguments) const {
  const CallResult result = call == nullptr ? nvml::kFunctionNotFound : call(arguments...);
  const bool is_noted = !missing.empty() && missing.back().value == value;
  if (result != nvml::kSuccess && !is_noted) missing.push_back({value, reason(result)});
  return result == nvml::kSuccess;
}

template <typename Value, typename Call, typename... Arguments>
std::optional<Value> GpuMonitor::number(std::vector<Missing>& missing, std::string_view value,
                                        Call call, Arguments... arguments) const {
  unsigned found = 0;
  if (!ask(missing, value, call, arguments..., &found)) return {};
  return static_cast<Value>(found);
}

template <typename Call, typename... Arguments>
std::string GpuMonitor::text(std::vector<Missing>& missing, std::string_view value, Call call,
                             Arguments... arguments) const {
  std::array<char, nvml::kTextBytes> found{};
  if (!ask(missing, value, call, arguments..., found.data(), nvml::kTextBytes)) return {};
  found.back() = '\0';
  return found.data();
}

Result<std::vector<GpuFacts>> GpuMonitor::gpus() const {
  XTTS_TRY(check_process());
  unsigned count = 0;
  XTTS_TRY(check(calls_.gpu_count(&count), "counting the GPUs"));
  std::vector<GpuFacts> gpus;
  for (unsigned i = 0; i < count; ++i) {
    Gpu gpu = nullptr;
    GpuFacts& found = gpus.emplace_back();
    if (!ask(found.missing, "all", calls_.gpu_at, i, &gpu)) continue;
    XTTS_ASSIGN(found, facts(gpu));
  }
  return gpus;
}

Result<GpuFacts> GpuMonitor::facts(Gpu gpu) const {
  XTTS_TRY(check_process());
  GpuFacts facts;
  auto& missing = facts.missing;
  facts.gpu = gpu;
  facts.name = text(missing, "name", calls_.name, gpu);
  facts.uuid = text(missing, "UUID", calls_.uuid, gpu);
  nvml::PciInfo place{};
  if (ask(missing, "PCI bus id", calls_.pci_info, gpu, &place)) {
    place.bus_id.back() = '\0';
    facts.pci_bus_id = as_cuda_writes(place.bus_id.data());
  }
  facts.driver_version = text(missing, "driver version", calls_.driver_version);
  int version = 0;
  if (ask(missing, "CUDA version", calls_.cuda_version, &version)) facts.cuda_version = version;
  nvml::Memory memory{};
  if (ask(missing, "memory", calls_.memory, gpu, &memory)) facts.memory_total_bytes = memory.total;
  const auto milliwatts = number<double>(missing, "power limit", calls_.power_limit, gpu);
  if (milliwatts) facts.power_limit_w = *milliwatts / 1e3;
  const auto link = [&](auto call) {
    return number<std::uint32_t>(missing, "PCIe link", call, gpu);
  };
  facts.pcie_generation = link(calls_.pcie_generation);
  facts.pcie_width = link(calls_.pcie_width);
  facts.pcie_generation_max = link(calls_.pcie_generation_max);
  facts.pcie_width_max = link(calls_.pcie_width_max);
  return facts;
}

Result<Gpu> GpuMonitor::find(std::string_view pci_bus_id) const {
  XTTS_TRY(check_process());
  Gpu gpu = nullptr;
  const std::string place(pci_bus_id);
  const CallResult result = calls_.gpu_on_bus(place.c_str(), &gpu);
  if (result == nvml::kNotFound) {
    return Status(StatusCode::kUnsupported, "NVML knows no GPU at the PCI bus id " + place);
  }
  XTTS_TRY(check(result, "finding the GPU at " + place));
  return gpu;
}

GpuLink GpuMonitor::link(Gpu one, Gpu other) const {
  GpuLink link;
  if (!may_be_called()) return link;
  std::vector<Missing> ignored;
  int level = 0;
  if (ask(ignored, "link", calls_.common_ancestor, one, other, &level)) link.way = way_of(level);
  const auto can = [&](int capability) -> std::optional<bool> {
    int status = 0;
    if (!ask(ignored, "peer", calls_.peer_status, one, other, capability, &status)) return {};
    return status == nvml::kPeerWorks;
  };
  link.reads_peer = can(nvml::kPeerReads);
  link.has_nvlink = can(nvml::kPeerNvlink);
  return link;
}

GpuReading GpuMonitor::read(Gpu gpu, PcieReading pcie) const {
  GpuReading reading;
  auto& missing = reading.missing;
  if (!may_be_called()) {
    missing.push_back({"all", forked().message()});
    return reading;
  }
  nvml::Utilization utilization{};
  if (ask(missing, "utilization", calls_.utilization, gpu, &utilization)) {
    reading.utilization = utilization.gpu;
    reading.memory_utilization = utilization.memory;
  }
  nvml::Memory memory{};
  if (ask(missing, "memory", calls_.memory, gpu, &memory)) {
    reading.memory_used_bytes = memory.used;
    reading.memory_free_bytes = memory.free;
  }
  if (pcie == PcieReading::kThroughput) {
    const auto throughput = [&](int counter) {
      auto rate =
          number<std::uint64_t>(missing, "PCIe throughput", calls_.pcie_throughput, gpu, counter);
      return rate ? std::optional(*rate * kKilobyte) : rate;
    };
    reading.pcie_received_bytes_per_s = throughput(nvml::kPcieReceived);
    reading.pcie_sent_bytes_per_s = throughput(nvml::kPcieSent);
  }
  const auto clock = [&](int type) {
    return number<std::uint32_t>(missing, "clocks", calls_.clock, gpu, type);
  };
  reading.sm_clock_mhz = clock(nvml::kSmClock);
  reading.memory_clock_mhz = clock(nvml::kMemoryClock);
  const auto milliwatts = number<double>(missing, "power", calls_.power, gpu);
  if (milliwatts) reading.power_w = *milliwatts / 1e3;
  reading.temperature_c =
      number<std::uint32_t>(missing, "temperature", calls_.temperature, gpu, nvml::kGpuTemperature);
  unsigned long long reasons = 0;
  const auto ask_reasons =
      calls_.new_clock_reasons == nullptr ? calls_.clock_reasons : calls_.new_clock_reasons;
  if (ask(missing, "throttle reasons", ask_reasons, gpu, &reasons)) {
    reading.throttle_reasons.emplace();
    for (const auto& [bit, words] : kThrottleReasons) {
      if ((reasons & bit) != 0) reading.throttle_reasons->push_back(words);
    }
  }
  return reading;
}

}  // namespace xtts::device
