// FakeGpu: the adversarial driver and cuFFT's double, begun anew, and watched until they are
// closed.
#pragma once

#include <string>
#include <vector>

#include "support/cuda_driver/fake_cuda.hpp"

namespace xtts::testing {

class FakeGpu {
 public:
  explicit FakeGpu(fake_cuda::Options options = {});
  ~FakeGpu();  // a fault, or something that is left, is a failure of the test
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;

  // Returns the faults in words, and also what is left.
  [[nodiscard]] std::vector<std::string> close();

 private:
  bool is_closed_ = false;
};

}  // namespace xtts::testing
