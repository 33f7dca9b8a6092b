// XTTS_ON_BOTH marks a function that CUDA's compiler builds for the GPU as well as for the host. A
// C++ compiler sees a plain function. So the arithmetic of a step is written once.
#pragma once

#ifdef __CUDACC__
#define XTTS_ON_BOTH __host__ __device__
#else
#define XTTS_ON_BOTH
#endif
