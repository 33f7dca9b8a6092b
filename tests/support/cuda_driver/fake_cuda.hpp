// The control of the adversarial libcuda.so.1: a test sets the fake driver up, asks for its faults,
// and plays the consumer of device memory. README.md says what the driver notes as a fault.
//
// Any number of threads; reset() alone needs that no other call runs. No call fails. A control call
// that makes no sense is a fault, too.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cuda/driver_calls.hpp"

#define XTTS_FAKE_CUDA_API __attribute__((visibility("default")))

namespace xtts::testing::fake_cuda {

struct FailingCall {
  // The driver's name for the call: "cuMemAlloc". A suffix such as _v2 may be left out.
  std::string name;
  std::uint64_t nth = 1;  // the call that fails, counted from 1 since reset(); 0: all calls fail
  cuda::CallResult code = cuda::kOutOfMemory;
};

struct Options {
  // Decides which work is late, in which pieces it is done, and how many threads do it.
  std::uint64_t seed = 0;
  int device_count = 1;
  int compute_major = 9;
  int compute_minor = 0;
  int driver_version = 13000;
  bool no_device = false;  // cuInit says that there is no GPU
  // cuInit() was called already. A test needs it for its second reset(), because the product starts
  // the driver once in a process.
  bool is_started = false;
  bool can_access_peer = true;
  std::size_t memory_bytes = std::size_t{1} << 30U;  // of each device
  std::vector<FailingCall> failing_calls = {};
  // Work that nobody waits for begins at the latest after this time. Make it hours for a test
  // whose work is done only when somebody waits.
  std::chrono::milliseconds latest{20};
};

// cuModuleLoadData() takes this image, PTX, or what nvcc has compiled. It loads the same kernels
// for all, compiled for the host.
inline constexpr char kTestImage[] = "XTTS-TEST-IMAGE";

// Finishes all work and forgets everything: devices, handles, faults, counts.
XTTS_FAKE_CUDA_API void reset(const Options& options = {});

// The faults so far, in words.
[[nodiscard]] XTTS_FAKE_CUDA_API std::vector<std::string> faults();
// The objects that exist now, in words: streams, events, memory, page-locked memory, modules,
// retained contexts, and contexts that are current on a thread. The test's own streams do not
// count.
[[nodiscard]] XTTS_FAKE_CUDA_API std::vector<std::string> leftovers();
// How often a call was made since reset(), the failed ones included.
[[nodiscard]] XTTS_FAKE_CUDA_API std::uint64_t call_count(const std::string& name);

// Reads device memory for the host. A fault where the host has not waited for all work that wrote
// it, or where nobody wrote it.
[[nodiscard]] XTTS_FAKE_CUDA_API std::vector<std::byte> copy_to_host(cuda::DeviceAddress address,
                                                                     std::size_t size_bytes);
[[nodiscard]] inline std::vector<std::byte> copy_to_host(const std::byte* address,
                                                         std::size_t size_bytes) {
  return copy_to_host(reinterpret_cast<cuda::DeviceAddress>(address), size_bytes);
}

// A stream of a consumer, as frameworks make them. 0 and 1 are the legacy default stream, 2 is the
// per-thread one.
[[nodiscard]] XTTS_FAKE_CUDA_API std::uintptr_t make_stream(int device = 0,
                                                            bool is_blocking = false);
// A consumer's kernel: it reads memory at some time, in the stream's order, and then calls `done`
// with the bytes, in a thread of the driver. `done` must neither call the driver nor wait for a
// thread that does.
using ReadDone = std::function<void(std::vector<std::byte> bytes)>;
XTTS_FAKE_CUDA_API void launch_read(std::uintptr_t stream, cuda::DeviceAddress address,
                                    std::size_t size_bytes, ReadDone done = {});
inline void launch_read(std::uintptr_t stream, const std::byte* address, std::size_t size_bytes,
                        ReadDone done = {}) {
  launch_read(stream, reinterpret_cast<cuda::DeviceAddress>(address), size_bytes, std::move(done));
}
// Waits for all work of a stream, as the host.
XTTS_FAKE_CUDA_API void finish(std::uintptr_t stream);

}  // namespace xtts::testing::fake_cuda

// For ctypes. Texts are lines, of which as many bytes are written as fit, with a zero byte at the
// end; the result is the number of lines.
extern "C" {
XTTS_FAKE_CUDA_API int fake_cuda_faults(char* text, std::size_t size_bytes);
XTTS_FAKE_CUDA_API int fake_cuda_leftovers(char* text, std::size_t size_bytes);
XTTS_FAKE_CUDA_API std::uint64_t fake_cuda_call_count(const char* name);
XTTS_FAKE_CUDA_API void fake_cuda_copy_to_host(std::uint64_t address, void* to,
                                               std::size_t size_bytes);
XTTS_FAKE_CUDA_API std::uint64_t fake_cuda_make_stream(int device, int is_blocking);
// `to` receives the bytes when the kernel has run. It must live until then.
XTTS_FAKE_CUDA_API void fake_cuda_launch_read(std::uint64_t stream, std::uint64_t address,
                                              std::size_t size_bytes, void* to);
XTTS_FAKE_CUDA_API void fake_cuda_finish(std::uint64_t stream);
}
