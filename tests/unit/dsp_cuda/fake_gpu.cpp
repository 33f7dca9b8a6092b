#include "unit/dsp_cuda/fake_gpu.hpp"

#include <gtest/gtest.h>

#include "support/cufft/fake_cufft.hpp"

namespace xtts::testing {

FakeGpu::FakeGpu(fake_cuda::Options options) {
  options.is_started = true;  // the process opens the driver once
  fake_cuda::reset(options);
  fake_cufft::reset();
}

FakeGpu::~FakeGpu() {
  if (is_closed_) return;
  EXPECT_EQ(close(), std::vector<std::string>());
}

std::vector<std::string> FakeGpu::close() {
  is_closed_ = true;
  std::vector<std::string> wrong = fake_cuda::faults();
  for (const std::string& left : fake_cuda::leftovers()) wrong.push_back("left: " + left);
  if (fake_cufft::plan_count() != 0) wrong.push_back("left: a plan of cuFFT");
  return wrong;
}

}  // namespace xtts::testing
