// The calls of NVIDIA's driver (libcuda.so.1) that this project makes, and their types.
//
// They are declared here, and not taken from NVIDIA's header, so that one build works with every
// toolkit, and without one. The driver's binary interface does not change: a new form of a call
// gets a new symbol (cuMemAlloc_v2). tests/unit/cuda compares this file with cuda.h where a toolkit
// is installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xtts::cuda {

using CallResult = int;  // CUresult; 0: success
using DeviceOrdinal = int;
using DeviceAddress = std::uint64_t;
struct ContextObject;
struct StreamObject;
struct EventObject;
struct ModuleObject;
struct FunctionObject;
using ContextHandle = ContextObject*;
using StreamHandle = StreamObject*;
using EventHandle = EventObject*;
using ModuleHandle = ModuleObject*;
using FunctionHandle = FunctionObject*;

// The results that the code tells apart.
inline constexpr CallResult kSuccess = 0;
inline constexpr CallResult kOutOfMemory = 2;
inline constexpr CallResult kDeinitialized = 4;  // the process ends, and the driver is gone already
inline constexpr CallResult kNoDevice = 100;
inline constexpr CallResult kInvalidImage = 200;
inline constexpr CallResult kNoBinaryForGpu = 209;
inline constexpr CallResult kInvalidPtx = 218;
inline constexpr CallResult kNoPtxCompiler = 221;
inline constexpr CallResult kUnsupportedPtx = 222;
inline constexpr CallResult kPtxCompilerIsOff = 223;
inline constexpr CallResult kNotReady = 600;
inline constexpr CallResult kContextIsDestroyed = 709;
inline constexpr CallResult kNotSupported = 801;
inline constexpr CallResult kDriverMismatch = 803;

// Flags and attributes.
inline constexpr unsigned kStreamNonBlocking = 1;   // no order with the legacy default stream
inline constexpr unsigned kEventBlockingWait = 1;   // a host thread that waits sleeps
inline constexpr unsigned kEventWithoutTiming = 2;  // cheaper to record and to wait for
inline constexpr unsigned kHostMemoryPortable = 1;  // page-locked for all contexts
inline constexpr int kAttributeComputeMajor = 75;
inline constexpr int kAttributeComputeMinor = 76;

// The attributes that hold for the copies of one call: CUmemcpyAttributes.
struct CopyAttributes {
  int source_order = 0;
  int source_hint[2] = {};  // of memory that the driver manages; ours is not
  int target_hint[2] = {};
  unsigned flags = 0;
};
inline constexpr int kSourceInStreamOrder = 1;

// X(name in the code, symbol in the library, parameters)
#define XTTS_CUDA_DRIVER_CALLS(X)                                                                  \
  X(init, cuInit, (unsigned flags))                                                                \
  X(driver_version, cuDriverGetVersion, (int* version))                                            \
  X(error_name, cuGetErrorName, (CallResult error, const char** name))                             \
  X(error_text, cuGetErrorString, (CallResult error, const char** text))                           \
  X(device_count, cuDeviceGetCount, (int* count))                                                  \
  X(device_get, cuDeviceGet, (DeviceOrdinal * device, int number))                                 \
  X(device_name, cuDeviceGetName, (char* name, int size, DeviceOrdinal device))                    \
  X(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, DeviceOrdinal device))     \
  X(device_pci_bus_id, cuDeviceGetPCIBusId, (char* id, int size, DeviceOrdinal device))            \
  X(can_access_peer, cuDeviceCanAccessPeer, (int* can, DeviceOrdinal from, DeviceOrdinal to))      \
  X(enable_peer, cuCtxEnablePeerAccess, (ContextHandle peer, unsigned flags))                      \
  X(retain_context, cuDevicePrimaryCtxRetain, (ContextHandle * context, DeviceOrdinal device))     \
  X(release_context, cuDevicePrimaryCtxRelease_v2, (DeviceOrdinal device))                         \
  X(push_context, cuCtxPushCurrent_v2, (ContextHandle context))                                    \
  X(pop_context, cuCtxPopCurrent_v2, (ContextHandle * context))                                    \
  X(memory_info, cuMemGetInfo_v2, (std::size_t * free_bytes, std::size_t * total_bytes))           \
  X(allocate, cuMemAlloc_v2, (DeviceAddress * address, std::size_t size_bytes))                    \
  X(free, cuMemFree_v2, (DeviceAddress address))                                                   \
  X(lock_host_memory, cuMemHostRegister_v2,                                                        \
    (void* memory, std::size_t size_bytes, unsigned flags))                                        \
  X(unlock_host_memory, cuMemHostUnregister, (void* memory))                                       \
  X(copy_to_device, cuMemcpyHtoDAsync_v2,                                                          \
    (DeviceAddress to, const void* from, std::size_t size_bytes, StreamHandle stream))             \
  X(copy_to_host, cuMemcpyDtoHAsync_v2,                                                            \
    (void* to, DeviceAddress from, std::size_t size_bytes, StreamHandle stream))                   \
  X(copy, cuMemcpyAsync,                                                                           \
    (DeviceAddress to, DeviceAddress from, std::size_t size_bytes, StreamHandle stream))           \
  X(copy_to_peer, cuMemcpyPeerAsync,                                                               \
    (DeviceAddress to, ContextHandle to_context, DeviceAddress from, ContextHandle from_context,   \
     std::size_t size_bytes, StreamHandle stream))                                                 \
  X(create_stream, cuStreamCreateWithPriority,                                                     \
    (StreamHandle * stream, unsigned flags, int priority))                                         \
  X(destroy_stream, cuStreamDestroy_v2, (StreamHandle stream))                                     \
  X(synchronize_stream, cuStreamSynchronize, (StreamHandle stream))                                \
  X(let_stream_wait, cuStreamWaitEvent, (StreamHandle stream, EventHandle event, unsigned flags))  \
  X(create_event, cuEventCreate, (EventHandle * event, unsigned flags))                            \
  X(destroy_event, cuEventDestroy_v2, (EventHandle event))                                         \
  X(record_event, cuEventRecord, (EventHandle event, StreamHandle stream))                         \
  X(query_event, cuEventQuery, (EventHandle event))                                                \
  X(synchronize_event, cuEventSynchronize, (EventHandle event))                                    \
  X(load_module, cuModuleLoadData, (ModuleHandle * module, const void* image))                     \
  X(unload_module, cuModuleUnload, (ModuleHandle module))                                          \
  X(find_function, cuModuleGetFunction,                                                            \
    (FunctionHandle * function, ModuleHandle module, const char* name))                            \
  X(launch, cuLaunchKernel,                                                                        \
    (FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, StreamHandle stream,               \
     void** parameters, void** extra))

// Calls that older drivers lack, and which are null there. A list of copies came with CUDA 12.8,
// and lost a parameter with 13.0.
#define XTTS_CUDA_NEWER_DRIVER_CALLS(X)                                                            \
  X(copy_list, cuMemcpyBatchAsync_v2,                                                              \
    (DeviceAddress * to, DeviceAddress * from, std::size_t * sizes_bytes, std::size_t count,       \
     CopyAttributes * attributes, std::size_t * first_of_attributes, std::size_t attributes_count, \
     StreamHandle stream))                                                                         \
  X(copy_list_of_12, cuMemcpyBatchAsync,                                                           \
    (DeviceAddress * to, DeviceAddress * from, std::size_t * sizes_bytes, std::size_t count,       \
     CopyAttributes * attributes, std::size_t * first_of_attributes, std::size_t attributes_count, \
     std::size_t * failed, StreamHandle stream))

// The calls, found in the library. Once Driver::open() has succeeded, all are set but newer ones.
struct DriverCalls {
#define XTTS_DECLARE(name, symbol, parameters) CallResult(*name) parameters = nullptr;
  XTTS_CUDA_DRIVER_CALLS(XTTS_DECLARE)
  XTTS_CUDA_NEWER_DRIVER_CALLS(XTTS_DECLARE)
#undef XTTS_DECLARE
};

}  // namespace xtts::cuda
