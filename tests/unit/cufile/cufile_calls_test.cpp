// src/cufile/cufile_calls.hpp against NVIDIA's header: the compiler compares them.
#include "cufile/cufile_calls.hpp"

#include <gtest/gtest.h>

#if __has_include(<cufile.h>) && __has_include(<cuda.h>)
#include <cufile.h>

#include <cstddef>
#include <type_traits>

namespace xtts::cufile {
namespace {

// Types that a call passes alike. Handles, structs and enums have names of their own there, and a
// handle is a void* there; integers may differ in their sign.
template <typename Ours, typename Theirs>
constexpr bool kIsAlike =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>;

// Also what pointers point to. The structs are compared below.
template <typename T>
constexpr bool kIsOpaque = std::is_void_v<T> || std::is_class_v<T>;
template <typename Ours, typename Theirs>
constexpr bool kPointsAlike = kIsAlike<Ours, Theirs>;
template <typename Ours, typename Theirs>
constexpr bool kPointsAlike<Ours*, Theirs*> = [] {
  if constexpr (std::is_const_v<Ours> != std::is_const_v<Theirs>) {
    return false;
  } else if constexpr (kIsOpaque<Ours> || kIsOpaque<Theirs>) {
    return kIsOpaque<Ours> && kIsOpaque<Theirs>;
  } else {
    return kPointsAlike<Ours, Theirs>;
  }
}();

template <typename Ours, typename Theirs>
constexpr bool kReturnsAlike = [] {
  if constexpr (std::is_void_v<Ours> || std::is_void_v<Theirs>) {
    return std::is_void_v<Ours> && std::is_void_v<Theirs>;
  } else {
    return kIsAlike<Ours, Theirs> && std::is_class_v<Ours> == std::is_class_v<Theirs>;
  }
}();

template <typename Ours, typename Theirs>
struct SameCall : std::false_type {};
template <typename Ours, typename... OurParameters, typename Theirs, typename... TheirParameters>
struct SameCall<Ours (*)(OurParameters...), Theirs(TheirParameters...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(OurParameters) != sizeof...(TheirParameters)) {
      return false;
    } else {
      return kReturnsAlike<Ours, Theirs> && (kPointsAlike<OurParameters, TheirParameters> && ...);
    }
  }();
};

#define XTTS_COMPARE(name, symbol, result, parameters) \
  static_assert(SameCall<decltype(CuFileCalls::name), decltype(::symbol)>::value, #symbol);
XTTS_CUFILE_CALLS(XTTS_COMPARE)
#if defined(XTTS_HEADER_HAS_cuFileGetVersion)
XTTS_CUFILE_NEWER_CALLS(XTTS_COMPARE)
#endif
#undef XTTS_COMPARE

static_assert(sizeof(CallError) == sizeof(CUfileError_t));
static_assert(offsetof(CallError, code) == offsetof(CUfileError_t, err));
static_assert(offsetof(CallError, driver_code) == offsetof(CUfileError_t, cu_err));
static_assert(sizeof(FileDescription) == sizeof(CUfileDescr_t));
static_assert(offsetof(FileDescription, type) == offsetof(CUfileDescr_t, type));
static_assert(offsetof(FileDescription, descriptor) == offsetof(CUfileDescr_t, handle));
static_assert(offsetof(FileDescription, operations) == offsetof(CUfileDescr_t, fs_ops));
static_assert(sizeof(DriverProperties) >= sizeof(CUfileDrvProps_t));
static_assert(offsetof(DriverProperties, features) == offsetof(CUfileDrvProps_t, fflags));
static_assert(offsetof(DriverProperties, nvidia_fs.supported) ==
              offsetof(CUfileDrvProps_t, nvfs.dstatusflags));
#if defined(XTTS_HEADER_HAS_CU_FILE_P2P_SUPPORTED)
static_assert(kFeaturePeerToPeer == 1U << CU_FILE_P2P_SUPPORTED);
#endif

static_assert(kSuccess == CU_FILE_SUCCESS);
static_assert(kModuleNotLoaded == CU_FILE_DRIVER_NOT_INITIALIZED);
static_assert(kModuleMismatch == CU_FILE_DRIVER_VERSION_MISMATCH);
static_assert(kMachineNotSupported == CU_FILE_PLATFORM_NOT_SUPPORTED);
static_assert(kFileNotSupported == CU_FILE_IO_NOT_SUPPORTED);
static_assert(kGpuNotSupported == CU_FILE_DEVICE_NOT_SUPPORTED);
static_assert(kDriverError == CU_FILE_CUDA_DRIVER_ERROR);
static_assert(kAlreadyOpen == CU_FILE_DRIVER_ALREADY_OPEN);
static_assert(kSetupFailed == CU_FILE_NVFS_SETUP_ERROR);
static_assert(kMemoryNotPinned == CU_FILE_GPU_MEMORY_PINNING_FAILED);

// What the compiler has not compared: a default, and names that this header may lack.
TEST(CuFileCalls, AgreeWithNvidiasHeader) {
  EXPECT_EQ(FileDescription().type, CU_FILE_HANDLE_TYPE_OPAQUE_FD);
#if !defined(XTTS_HEADER_HAS_cuFileGetVersion)
  GTEST_SKIP() << "SKIPPED in part: this cufile.h is too old to have cuFileGetVersion";
#elif !defined(XTTS_HEADER_HAS_CU_FILE_P2P_SUPPORTED)
  GTEST_SKIP() << "SKIPPED in part: this cufile.h is older than 1.16, so it lacks "
                  "CU_FILE_P2P_SUPPORTED";
#endif
}

}  // namespace
}  // namespace xtts::cufile

#else

TEST(CuFileCalls, AgreeWithNvidiasHeader) {
  GTEST_SKIP() << "SKIPPED: cuFile is not installed, so there is no cufile.h to compare with";
}

#endif
