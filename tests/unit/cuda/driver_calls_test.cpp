// src/cuda/driver_calls.hpp against NVIDIA's header: the compiler compares them.
#include "cuda/driver_calls.hpp"

#include <gtest/gtest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstddef>
#include <type_traits>

namespace xtts::cuda {
namespace {

// Types that a call passes alike: both are pointers, or both are integers of one size. An enum of
// NVIDIA's is an integer here; integers may differ in their sign.
template <typename Ours, typename Theirs>
constexpr bool kIsAlike =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>;

// For parameters, also what pointers point to.
template <typename Ours, typename Theirs>
constexpr bool kPointsAlike = kIsAlike<Ours, Theirs>;
template <typename Ours, typename Theirs>
constexpr bool kPointsAlike<Ours*, Theirs*> = [] {
  if constexpr (std::is_const_v<Ours> != std::is_const_v<Theirs>) {
    return false;
  } else if constexpr (std::is_void_v<Ours> || std::is_void_v<Theirs>) {
    return std::is_void_v<Ours> && std::is_void_v<Theirs>;
  } else if constexpr (std::is_class_v<Ours> || std::is_class_v<Theirs>) {
    return std::is_class_v<Ours> && std::is_class_v<Theirs>;  // the object of a handle
  } else {
    return kPointsAlike<Ours, Theirs>;
  }
}();

template <typename Ours, typename Theirs>
struct SameCall : std::false_type {};
template <typename Ours, typename... OurParameters, typename Theirs, typename... TheirParameters>
struct SameCall<Ours (*)(OurParameters...), Theirs (*)(TheirParameters...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(OurParameters) != sizeof...(TheirParameters)) {
      return false;
    } else {
      return kIsAlike<Ours, Theirs> && (kPointsAlike<OurParameters, TheirParameters> && ...);
    }
  }();
};

#define XTTS_COMPARE(name, symbol, parameters) \
  static_assert(SameCall<decltype(DriverCalls::name), decltype(&::symbol)>::value, #symbol);
XTTS_CUDA_DRIVER_CALLS(XTTS_COMPARE)
#undef XTTS_COMPARE

#if CUDA_VERSION >= 13000
static_assert(SameCall<decltype(DriverCalls::copy_list), PFN_cuMemcpyBatchAsync_v13000>::value);
#endif
#if CUDA_VERSION >= 12080
static_assert(
    SameCall<decltype(DriverCalls::copy_list_of_12), PFN_cuMemcpyBatchAsync_v12080>::value);
static_assert(sizeof(CopyAttributes) == sizeof(CUmemcpyAttributes));
static_assert(offsetof(CopyAttributes, target_hint) == offsetof(CUmemcpyAttributes, dstLocHint));
static_assert(offsetof(CopyAttributes, flags) == offsetof(CUmemcpyAttributes, flags));
static_assert(kSourceInStreamOrder == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
#endif

static_assert(kSuccess == CUDA_SUCCESS);
static_assert(kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(kDeinitialized == CUDA_ERROR_DEINITIALIZED);
static_assert(kNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(kNoBinaryForGpu == CUDA_ERROR_NO_BINARY_FOR_GPU);
static_assert(kInvalidPtx == CUDA_ERROR_INVALID_PTX);
static_assert(kNoPtxCompiler == CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
static_assert(kPtxCompilerIsOff == CUDA_ERROR_JIT_COMPILATION_DISABLED);
static_assert(kUnsupportedPtx == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
static_assert(kNotReady == CUDA_ERROR_NOT_READY);
static_assert(kContextIsDestroyed == CUDA_ERROR_CONTEXT_IS_DESTROYED);
static_assert(kNotSupported == CUDA_ERROR_NOT_SUPPORTED);
static_assert(kDriverMismatch == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
static_assert(kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(kEventBlockingWait == CU_EVENT_BLOCKING_SYNC);
static_assert(kEventWithoutTiming == CU_EVENT_DISABLE_TIMING);
static_assert(kHostMemoryPortable == CU_MEMHOSTREGISTER_PORTABLE);
static_assert(kAttributeComputeMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(kAttributeComputeMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);

TEST(DriverCalls, AgreeWithNvidiasHeader) {
  RecordProperty("cuda_version", CUDA_VERSION);  // it has compiled
}

}  // namespace
}  // namespace xtts::cuda

#else

TEST(DriverCalls, AgreeWithNvidiasHeader) {
  GTEST_SKIP() << "no CUDA toolkit is installed, so there is no cuda.h to compare with";
}

#endif
