// The calls of cuFFT (libcufft.so.12, or .11) that this project makes, and their types.
//
// They are declared here, and not taken from NVIDIA's header, so that one build works with every
// toolkit, and without one. tests/unit/dsp_cuda compares this file with cufft.h where a toolkit is
// installed.
#pragma once

#include "cuda/driver_calls.hpp"

namespace xtts::dsp_cuda {

using FftResult = int;  // cufftResult; 0: success
using FftHandle = int;

inline constexpr FftResult kFftSuccess = 0;
inline constexpr FftResult kFftAllocationFailed = 2;

inline constexpr int kFftComplexFloat = 0x29;   // CUFFT_C2C
inline constexpr int kFftComplexDouble = 0x69;  // CUFFT_Z2Z
inline constexpr int kFftForward = -1;

// X(name in the code, symbol in the library, parameters). Complex numbers are pairs of Real.
#define XTTS_CUFFT_CALLS(X)                                                                 \
  X(version, cufftGetVersion, (int* version))                                               \
  X(plan, cufftPlanMany,                                                                    \
    (FftHandle * plan, int rank, int* sizes, int* in_sizes, int in_stride, int in_distance, \
     int* out_sizes, int out_stride, int out_distance, int type, int batch))                \
  X(set_stream, cufftSetStream, (FftHandle plan, cuda::StreamHandle stream))                \
  X(run_double, cufftExecZ2Z, (FftHandle plan, void* in, void* out, int direction))         \
  X(run_float, cufftExecC2C, (FftHandle plan, void* in, void* out, int direction))          \
  X(destroy, cufftDestroy, (FftHandle plan))

// The calls, found in the library. All are set once Cufft::open() has succeeded.
struct CufftCalls {
#define XTTS_DECLARE(name, symbol, parameters) FftResult(*name) parameters = nullptr;
  XTTS_CUFFT_CALLS(XTTS_DECLARE)
#undef XTTS_DECLARE
};

}  // namespace xtts::dsp_cuda
