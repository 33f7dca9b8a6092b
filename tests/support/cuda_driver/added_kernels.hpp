// Kernels that a test brings along, and work of libraries above the driver, such as cuFFT. Each
// says which ranges of device memory it reads and writes, so the driver's rules hold for it.
//
// Any number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "support/cuda_driver/fake_cuda.hpp"

namespace xtts::testing::fake_cuda {

struct KernelRange {
  cuda::DeviceAddress address = 0;
  std::size_t size_bytes = 0;
  bool is_read = false;
  bool is_written = false;
};

// The work of one launch, on the host.
struct KernelWork {
  std::vector<KernelRange> ranges;
  std::size_t piece_count = 0;
  // Does the pieces [begin, end). `memory` has each range where the host may use it. Several
  // threads call it at once.
  std::function<void(const std::vector<std::byte*>& memory, std::size_t begin, std::size_t end)>
      run;
  std::string refusal = {};  // what is wrong with the launch; empty: nothing
};

struct KernelLaunch {
  unsigned grid[3] = {};
  unsigned block[3] = {};
  void** parameters = nullptr;
};
using PlanKernel = std::function<KernelWork(const KernelLaunch& launch)>;

// All modules have this kernel from now on, also after reset().
XTTS_FAKE_CUDA_API void add_kernel(const std::string& name, PlanKernel plan);
// One that was added. A test may put another in its place, which does its work and more.
[[nodiscard]] XTTS_FAKE_CUDA_API PlanKernel added_kernel(const std::string& name);

// Puts a library's work on a stream of the current context.
[[nodiscard]] XTTS_FAKE_CUDA_API cuda::CallResult launch_work(cuda::StreamHandle stream,
                                                              const std::string& name,
                                                              const KernelWork& work);

// The driver's own side; driver_mutex() is held.
class FakeDriver;
struct Work;
[[nodiscard]] bool has_added_kernel(const std::string& name);
[[nodiscard]] Work make_added(FakeDriver& driver, const std::string& name,
                              const KernelLaunch& launch);

}  // namespace xtts::testing::fake_cuda
