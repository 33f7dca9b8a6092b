// src/cufile/cufile_calls.hpp against NVIDIA's header: the compiler compares them.
#include "cufile/cufile_calls.hpp"

#include <gtest/gtest.h>

#include <cufile.h>

#include <cstddef>
#include <type_traits>

namespace xtts::cufile {
namespace {

// Handles and enums have names of their own there; what counts is how they are passed.
template <typename Ours, typename Theirs>
constexpr bool kIsAlike =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>;

template <typename Ours, typename Theirs>
struct SameCall : std::false_type {};
template <typename Ours, typename... OurParameters, typename Theirs, typename... TheirParameters>
struct SameCall<Ours (*)(OurParameters...), Theirs(TheirParameters...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(OurParameters) != sizeof...(TheirParameters)) {
      return false;
    } else if constexpr (std::is_void_v<Ours> || std::is_void_v<Theirs>) {
      return std::is_void_v<Ours> && std::is_void_v<Theirs> &&
             (kIsAlike<OurParameters, TheirParameters> && ...);
    } else {
      return sizeof(Ours) == sizeof(Theirs) && (kIsAlike<OurParameters, TheirParameters> && ...);
    }
  }();
};

#define XTTS_COMPARE(name, symbol, result, parameters) \
  static_assert(SameCall<decltype(CuFileCalls::name), decltype(::symbol)>::value, #symbol);
XTTS_CUFILE_CALLS(XTTS_COMPARE)
#undef XTTS_COMPARE

static_assert(sizeof(CallError) == sizeof(CUfileError_t));
static_assert(offsetof(CallError, driver_code) == offsetof(CUfileError_t, cu_err));
static_assert(sizeof(FileDescription) == sizeof(CUfileDescr_t));
static_assert(offsetof(FileDescription, descriptor) == offsetof(CUfileDescr_t, handle));
static_assert(offsetof(FileDescription, operations) == offsetof(CUfileDescr_t, fs_ops));
static_assert(sizeof(DriverProperties) >= sizeof(CUfileDrvProps_t));
static_assert(offsetof(DriverProperties, features) == offsetof(CUfileDrvProps_t, fflags));
static_assert(offsetof(DriverProperties, nvidia_fs.supported) ==
              offsetof(CUfileDrvProps_t, nvfs.dstatusflags));
static_assert(kDriverError == CU_FILE_CUDA_DRIVER_ERROR);
static_assert(kAlreadyOpen == CU_FILE_DRIVER_ALREADY_OPEN);
static_assert(kFileNotSupported == CU_FILE_IO_NOT_SUPPORTED);
static_assert(kMemoryNotPinned == CU_FILE_GPU_MEMORY_PINNING_FAILED);
static_assert(CU_FILE_HANDLE_TYPE_OPAQUE_FD == 1);

TEST(CuFileCalls, AreThoseOfTheHeader) {
  EXPECT_EQ(FileDescription().type, CU_FILE_HANDLE_TYPE_OPAQUE_FD);
}

}  // namespace
}  // namespace xtts::cufile
