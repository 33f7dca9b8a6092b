// Compares the calls of cuFFT that we declare with NVIDIA's header.
#include <cufft.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "dsp_cuda/cufft_calls.hpp"

namespace {

// Enumerations count as int, and pointers as each other.
template <typename Theirs, typename Ours>
constexpr bool is_alike() {
  if constexpr (std::is_pointer_v<Theirs>) return std::is_pointer_v<Ours>;
  return !std::is_pointer_v<Ours> && sizeof(Theirs) == sizeof(Ours);
}

template <typename Theirs, typename Ours>
struct SameCall : std::false_type {};
template <typename TheirResult, typename... Theirs, typename OurResult, typename... Ours>
requires(sizeof...(Theirs) ==
         sizeof...(Ours)) struct SameCall<TheirResult (*)(Theirs...), OurResult (*)(Ours...)>
    : std::bool_constant<is_alike<TheirResult, OurResult>() && (is_alike<Theirs, Ours>() && ...)> {
};

using xtts::dsp_cuda::CufftCalls;
#define XTTS_COMPARE(name, symbol, parameters) \
  static_assert(SameCall<decltype(&::symbol), decltype(CufftCalls::name)>::value, #symbol);
XTTS_CUFFT_CALLS(XTTS_COMPARE)
#undef XTTS_COMPARE

TEST(CufftCalls, TheNumbersAreThoseOfTheHeader) {
  EXPECT_EQ(xtts::dsp_cuda::kFftSuccess, CUFFT_SUCCESS);
  EXPECT_EQ(xtts::dsp_cuda::kFftAllocationFailed, CUFFT_ALLOC_FAILED);
  EXPECT_EQ(xtts::dsp_cuda::kFftComplexFloat, CUFFT_C2C);
  EXPECT_EQ(xtts::dsp_cuda::kFftComplexDouble, CUFFT_Z2Z);
  EXPECT_EQ(xtts::dsp_cuda::kFftForward, CUFFT_FORWARD);
}

}  // namespace
