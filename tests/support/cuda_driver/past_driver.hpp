// For a library of tests that writes to device memory past the driver, as cuFile does. The host is
// the one who orders such a write: it comes behind all that the host has waited for, and before all
// that is queued when it has ended.
//
// Any number of threads. No call fails.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "support/cuda_driver/fake_cuda.hpp"

namespace xtts::testing::fake_cuda {

// Writes the bytes, late and in pieces; until then there are others. False where a check of the
// driver has refused it, and noted a fault: the memory is not that of the current context, or its
// other uses are not over. `name` is the call's.
XTTS_FAKE_CUDA_API bool write_past_driver(const char* name, cuda::DeviceAddress address,
                                          std::span<const std::byte> bytes);
// False, with a fault, where the address is no device memory of the current context.
XTTS_FAKE_CUDA_API bool check_device_memory(const char* name, cuda::DeviceAddress address,
                                            std::size_t size_bytes);
// False, with a fault, in a forked child and where no context is current.
XTTS_FAKE_CUDA_API bool check_caller(const char* name);
XTTS_FAKE_CUDA_API void note_fault(const std::string& what);

}  // namespace xtts::testing::fake_cuda
