// For a library of tests that writes to device memory past the driver, as cuFile does. Such a write
// is in no stream. It comes behind all work that the host has waited for, and before all work that
// is queued after the call.
//
// Any number of threads.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "support/cuda_driver/fake_cuda.hpp"

namespace xtts::testing::fake_cuda {

// Fills the range with other bytes, and writes the true ones a little later. False where a check of
// the driver has refused it, and noted a fault: the memory is not that of the current context, or
// its other uses are not over. `name` is the call's.
XTTS_FAKE_CUDA_API bool write_past_driver(const char* name, cuda::DeviceAddress address,
                                          std::span<const std::byte> bytes);
// False, with a fault, where the address is no device memory of the current context.
XTTS_FAKE_CUDA_API bool check_device_memory(const char* name, cuda::DeviceAddress address,
                                            std::size_t size_bytes);
// False, with a fault, in a forked child and where no context is current.
XTTS_FAKE_CUDA_API bool check_caller(const char* name);
XTTS_FAKE_CUDA_API void note_fault(const std::string& what);

}  // namespace xtts::testing::fake_cuda
