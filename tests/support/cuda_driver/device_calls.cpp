// The driver's start, devices and contexts.
#include <cstdio>

#include "support/cuda_driver/entry_points.hpp"

namespace xtts::testing::fake_cuda {
namespace {

struct ResultText {
  CallResult result;
  const char* name;
  const char* text;
};

constexpr ResultText kResults[] = {
    {kSuccess, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {kDeinitialized, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {kNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {kInvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {kNoPtxCompiler, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"},
    {kPtxCompilerIsOff, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "PTX JIT compilation was disabled"},
    {kUnsupportedPtx, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {kContextIsDestroyed, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {kHostMemoryAlreadyLocked, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {kHostMemoryNotLocked, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {kDriverMismatch, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "system has unsupported display driver / cuda driver combination"},
};

const ResultText* find_result(CallResult result) {
  for (const ResultText& one : kResults) {
    if (one.result == result) return &one;
  }
  return nullptr;
}

}  // namespace

extern "C" {

CallResult cuInit(unsigned flags) {
  return make_call("cuInit", false, [&](FakeDriver& now, auto&) {
    if (flags != 0) now.refuse(kInvalidValue, "flags must be 0");
    if (now.options.no_device || now.options.device_count == 0) throw Refusal{kNoDevice};
    now.is_started = true;
    own_driver();
  });
}

CallResult cuDriverGetVersion(int* version) {
  return make_call("cuDriverGetVersion", false,
                   [&](FakeDriver& now, auto&) { *version = now.options.driver_version; });
}

CallResult cuGetErrorName(CallResult error, const char** name) {
  return make_call("cuGetErrorName", false, [&](FakeDriver&, auto&) {
    const ResultText* const found = find_result(error);
    *name = found == nullptr ? nullptr : found->name;
    if (found == nullptr) throw Refusal{kInvalidValue};
  });
}

CallResult cuGetErrorString(CallResult error, const char** text) {
  return make_call("cuGetErrorString", false, [&](FakeDriver&, auto&) {
    const ResultText* const found = find_result(error);
    *text = found == nullptr ? nullptr : found->text;
    if (found == nullptr) throw Refusal{kInvalidValue};
  });
}

CallResult cuDeviceGetCount(int* count) {
  return make_call("cuDeviceGetCount",
                   [&](FakeDriver& now, auto&) { *count = now.options.device_count; });
}

CallResult cuDeviceGet(DeviceOrdinal* device, int number) {
  return make_call("cuDeviceGet", [&](FakeDriver& now, auto&) {
    now.check_device(number);
    *device = number;
  });
}

CallResult cuDeviceGetName(char* name, int size, DeviceOrdinal device) {
  return make_call("cuDeviceGetName", [&](FakeDriver& now, auto&) {
    now.check_device(device);
    if (size < 1) now.refuse(kInvalidValue, "there is no room for the name");
    (void)std::snprintf(name, static_cast<std::size_t>(size), "Adversarial GPU %d", device);
  });
}

CallResult cuDeviceGetAttribute(int* value, int attribute, DeviceOrdinal device) {
  return make_call("cuDeviceGetAttribute", [&](FakeDriver& now, auto&) {
    now.check_device(device);
    if (attribute == kAttributeComputeMajor) {
      *value = now.options.compute_major;
    } else if (attribute == kAttributeComputeMinor) {
      *value = now.options.compute_minor;
    } else {
      now.refuse(kInvalidValue, "the attribute " + std::to_string(attribute) + " is not imitated");
    }
  });
}

CallResult cuDeviceGetPCIBusId(char* id, int size, DeviceOrdinal device) {
  return make_call("cuDeviceGetPCIBusId", [&](FakeDriver& now, auto&) {
    now.check_device(device);
    if (size < 13) now.refuse(kInvalidValue, "there is no room for the place on the bus");
    (void)std::snprintf(id, static_cast<std::size_t>(size), "FFFF:%02X:00.0", device + 1);
  });
}

CallResult cuCtxEnablePeerAccess(ContextHandle peer, unsigned flags) {
  return make_call("cuCtxEnablePeerAccess", [&](FakeDriver& now, auto&) {
    if (flags != 0) now.refuse(kInvalidValue, "there are no such flags");
    const ContextPointer other = now.context(peer);
    if (other == now.current()) now.refuse(kInvalidContext, "a context is its own peer");
  });
}

CallResult cuDeviceCanAccessPeer(int* can, DeviceOrdinal from, DeviceOrdinal to) {
  return make_call("cuDeviceCanAccessPeer", [&](FakeDriver& now, auto&) {
    now.check_device(from);
    now.check_device(to);
    *can = now.options.can_access_peer && from != to ? 1 : 0;
  });
}

CallResult cuDevicePrimaryCtxRetain(ContextHandle* context, DeviceOrdinal device) {
  return make_call("cuDevicePrimaryCtxRetain", [&](FakeDriver& now, auto&) {
    now.check_device(device);
    const ContextPointer retained = now.primary_context(device);
    ++retained->retain_count;
    *context = as_handle<ContextHandle>(retained->handle);
  });
}

CallResult cuDevicePrimaryCtxRelease_v2(DeviceOrdinal device) {
  return make_call("cuDevicePrimaryCtxRelease", [&](FakeDriver& now, auto& lock) {
    now.check_device(device);
    const auto found = now.primary_contexts.find(device);
    if (found == now.primary_contexts.end() || found->second->retain_count == 0) {
      now.refuse(kInvalidContext,
                 "the context of device " + std::to_string(device) + " is not retained");
    }
    const ContextPointer context = found->second;
    if (--context->retain_count == 0) now.end(lock, context);
  });
}

CallResult cuCtxPushCurrent_v2(ContextHandle context) {
  return make_call("cuCtxPushCurrent", [&](FakeDriver& now, auto&) {
    now.contexts_of_thread().push_back(now.context(context));
  });
}

CallResult cuCtxPopCurrent_v2(ContextHandle* context) {
  return make_call("cuCtxPopCurrent", [&](FakeDriver& now, auto&) {
    auto& stack = now.contexts_of_thread();
    if (stack.empty()) now.refuse(kInvalidContext, "no context is current");
    if (context != nullptr) *context = as_handle<ContextHandle>(stack.back()->handle);
    stack.pop_back();
  });
}

CallResult cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  return make_call("cuMemGetInfo", [&](FakeDriver& now, auto&) {
    *total_bytes = now.options.memory_bytes;
    *free_bytes = *total_bytes - now.current()->used_bytes;
  });
}

}  // extern "C"
}  // namespace xtts::testing::fake_cuda
