// The calls of NVIDIA's management library (libnvidia-ml.so.1, NVML) that this project makes, and
// their types. They are declared here, so that builds need no toolkit. NVML's binary interface does
// not change: a new form of a call gets a new symbol (nvmlDeviceGetPciInfo_v3).
#pragma once

#include <array>
#include <cstddef>

namespace xtts::device::nvml {

using CallResult = int;  // nvmlReturn_t; 0: success
struct DeviceObject;
using DeviceHandle = DeviceObject*;  // nvmlDevice_t

// The results that the code tells apart.
inline constexpr CallResult kSuccess = 0;
inline constexpr CallResult kNotSupported = 3;
inline constexpr CallResult kNoPermission = 4;
inline constexpr CallResult kNotFound = 6;
inline constexpr CallResult kDriverNotLoaded = 9;
inline constexpr CallResult kFunctionNotFound = 13;
inline constexpr CallResult kGpuIsLost = 15;
inline constexpr CallResult kDriverMismatch = 18;

// nvmlUtilization_t, in percent of the last sample period (1/6 to 1 s, depending on the GPU).
struct Utilization {
  unsigned gpu;     // the time in which a kernel ran
  unsigned memory;  // the time in which memory was read or written
};

// nvmlMemory_t, in bytes.
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

// nvmlPciInfo_t, as nvmlDeviceGetPciInfo_v3 fills it.
struct PciInfo {
  std::array<char, 16> bus_id_legacy;
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  std::array<char, 32> bus_id;  // "00000000:01:00.0"
};

static_assert(sizeof(Utilization) == 8 && sizeof(Memory) == 24 && sizeof(PciInfo) == 68);
static_assert(offsetof(PciInfo, domain) == 16 && offsetof(PciInfo, bus_id) == 36);

// nvmlPcieUtilCounter_t, nvmlClockType_t and nvmlTemperatureSensors_t.
inline constexpr int kPcieSent = 0;      // by the GPU
inline constexpr int kPcieReceived = 1;  // by the GPU
inline constexpr int kSmClock = 1;
inline constexpr int kMemoryClock = 2;
inline constexpr int kGpuTemperature = 0;

// nvmlGpuTopologyLevel_t: what lies between two GPUs.
inline constexpr int kSameBoard = 0;
inline constexpr int kOneSwitch = 10;
inline constexpr int kSwitches = 20;
inline constexpr int kHostBridge = 30;
inline constexpr int kNode = 40;
inline constexpr int kSystem = 50;

// nvmlGpuP2PCapsIndex_t, and the nvmlGpuP2PStatus_t that says yes.
inline constexpr int kPeerReads = 0;
inline constexpr int kPeerNvlink = 2;
inline constexpr int kPeerWorks = 0;

// Sizes that suffice for every text of these calls.
inline constexpr unsigned kTextBytes = 96;

// X(name in the code, symbol in the library, parameters). All return a CallResult. Without the
// needed calls a library is too old. Without one of the others, its values are absent.
#define XTTS_NVML_NEEDED_CALLS(X)                                               \
  X(init, nvmlInit_v2, ())                                                      \
  X(gpu_count, nvmlDeviceGetCount_v2, (unsigned* count))                        \
  X(gpu_at, nvmlDeviceGetHandleByIndex_v2, (unsigned index, DeviceHandle* gpu)) \
  X(gpu_on_bus, nvmlDeviceGetHandleByPciBusId_v2, (const char* bus_id, DeviceHandle* gpu))
// The driver renamed throttle reasons to event reasons in version 535. `new_clock_reasons` is asked
// first.
#define XTTS_NVML_OTHER_CALLS(X)                                                                  \
  X(driver_version, nvmlSystemGetDriverVersion, (char* text, unsigned size))                      \
  X(cuda_version, nvmlSystemGetCudaDriverVersion_v2, (int* version))                              \
  X(name, nvmlDeviceGetName, (DeviceHandle gpu, char* text, unsigned size))                       \
  X(uuid, nvmlDeviceGetUUID, (DeviceHandle gpu, char* text, unsigned size))                       \
  X(pci_info, nvmlDeviceGetPciInfo_v3, (DeviceHandle gpu, PciInfo * info))                        \
  X(memory, nvmlDeviceGetMemoryInfo, (DeviceHandle gpu, Memory * memory))                         \
  X(utilization, nvmlDeviceGetUtilizationRates, (DeviceHandle gpu, Utilization * utilization))    \
  X(pcie_throughput, nvmlDeviceGetPcieThroughput,                                                 \
    (DeviceHandle gpu, int counter, unsigned* kilobytes_per_s))                                   \
  X(pcie_generation, nvmlDeviceGetCurrPcieLinkGeneration, (DeviceHandle gpu, unsigned* value))    \
  X(pcie_width, nvmlDeviceGetCurrPcieLinkWidth, (DeviceHandle gpu, unsigned* value))              \
  X(pcie_generation_max, nvmlDeviceGetMaxPcieLinkGeneration, (DeviceHandle gpu, unsigned* value)) \
  X(pcie_width_max, nvmlDeviceGetMaxPcieLinkWidth, (DeviceHandle gpu, unsigned* value))           \
  X(clock, nvmlDeviceGetClockInfo, (DeviceHandle gpu, int type, unsigned* mhz))                   \
  X(power, nvmlDeviceGetPowerUsage, (DeviceHandle gpu, unsigned* milliwatts))                     \
  X(power_limit, nvmlDeviceGetEnforcedPowerLimit, (DeviceHandle gpu, unsigned* milliwatts))       \
  X(temperature, nvmlDeviceGetTemperature, (DeviceHandle gpu, int sensor, unsigned* celsius))     \
  X(new_clock_reasons, nvmlDeviceGetCurrentClocksEventReasons,                                    \
    (DeviceHandle gpu, unsigned long long* reasons))                                              \
  X(clock_reasons, nvmlDeviceGetCurrentClocksThrottleReasons,                                     \
    (DeviceHandle gpu, unsigned long long* reasons))                                              \
  X(common_ancestor, nvmlDeviceGetTopologyCommonAncestor,                                         \
    (DeviceHandle one, DeviceHandle other, int* level))                                           \
  X(peer_status, nvmlDeviceGetP2PStatus,                                                          \
    (DeviceHandle one, DeviceHandle other, int capability, int* status))

// The calls, found in the library. Null where the library lacks one.
struct Calls {
#define XTTS_DECLARE(name, symbol, parameters) CallResult(*name) parameters = nullptr;
  XTTS_NVML_NEEDED_CALLS(XTTS_DECLARE)
  XTTS_NVML_OTHER_CALLS(XTTS_DECLARE)
#undef XTTS_DECLARE
  // NVML's own words for a result; it has no CallResult.
  const char* (*error_text)(CallResult result) = nullptr;
};

}  // namespace xtts::device::nvml
