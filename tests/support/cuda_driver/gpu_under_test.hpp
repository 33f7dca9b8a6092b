// GpuUnderTest: the driver's calls as the product makes them, on the fake driver. It resets the
// driver, opens the library by its name, and makes the context of device 0 current.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cuda/driver_calls.hpp"
#include "support/cuda_driver/fake_cuda.hpp"

namespace xtts::testing {

class GpuUnderTest {
 public:
  explicit GpuUnderTest(const fake_cuda::Options& options = {});
  ~GpuUnderTest();  // closes; a fault that nobody took is a failure of the test
  GpuUnderTest(const GpuUnderTest&) = delete;
  GpuUnderTest& operator=(const GpuUnderTest&) = delete;

  // These expect success.
  [[nodiscard]] cuda::StreamHandle stream(unsigned flags = cuda::kStreamNonBlocking);
  [[nodiscard]] cuda::EventHandle event();
  [[nodiscard]] cuda::DeviceAddress memory(std::size_t size_bytes);
  void lock(std::vector<std::byte>& host);
  void unlock(std::vector<std::byte>& host);
  void copy_in(cuda::DeviceAddress to, const std::vector<std::byte>& from,
               cuda::StreamHandle stream);
  void record(cuda::EventHandle event, cuda::StreamHandle stream);
  void let_wait(cuda::StreamHandle stream, cuda::EventHandle event);
  void wait(cuda::StreamHandle stream);
  void wait(cuda::EventHandle event);
  void expect(cuda::CallResult result, const char* what);

  // Loads the kernels at the first call.
  [[nodiscard]] cuda::FunctionHandle kernel(const char* name);
  template <typename Table>
  [[nodiscard]] cuda::CallResult launch(const char* name, Table table, cuda::StreamHandle stream,
                                        unsigned rows) {
    void* parameters[] = {&table};
    return calls.launch(kernel(name), 4, rows, 1, 64, 1, 1, 0, stream, parameters, nullptr);
  }

  // Gives everything back, in the right order.
  void close();
  // All faults so far; they are forgotten then.
  [[nodiscard]] std::string take_faults();

  cuda::DriverCalls calls;
  cuda::ContextHandle context = nullptr;
  cuda::ModuleHandle module = nullptr;

 private:
  std::size_t taken_count_ = 0;
  bool is_closed_ = false;
  std::vector<cuda::StreamHandle> streams_;
  std::vector<cuda::EventHandle> events_;
  std::vector<cuda::DeviceAddress> memories_;
  std::vector<std::byte*> locked_;
};

[[nodiscard]] std::vector<std::byte> some_bytes(std::size_t size_bytes, unsigned seed);

}  // namespace xtts::testing
