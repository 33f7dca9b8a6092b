// The fake driver's rules of modules and launches, with a breach of each that it must find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "base/hash.hpp"
#include "cuda/kernels/range_tables.hpp"
#include "support/cuda_driver/breach.hpp"
#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cuda_driver/gpu_under_test.hpp"

namespace xtts::testing {
namespace {

using cuda::kSuccess;
using ::testing::HasSubstr;

TEST(FakeCuda, TakesNoStrangeImageAndNoStrangeKernel) {
  GpuUnderTest gpu;
  cuda::ModuleHandle module = nullptr;
  EXPECT_EQ(gpu.calls.load_module(&module, "an image"), 200);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("cuModuleLoadData"));
  (void)gpu.kernel(cuda::kFillKernel);
  cuda::FunctionHandle function = nullptr;
  EXPECT_EQ(gpu.calls.find_function(&function, gpu.module, "xtts_other"), 500);
  EXPECT_EQ(gpu.take_faults(), "");
}

TEST(FakeCuda, FindsInPtxTheKernelsOfTheTextAlone) {
  GpuUnderTest gpu;
  cuda::ModuleHandle module = nullptr;
  cuda::FunctionHandle function = nullptr;
  const std::string ptx = "//\n.visible .entry " + std::string(cuda::kFillKernel) + "(\n";
  ASSERT_EQ(gpu.calls.load_module(&module, ptx.c_str()), kSuccess);
  EXPECT_EQ(gpu.calls.find_function(&function, module, cuda::kFillKernel), kSuccess);
  EXPECT_EQ(gpu.calls.find_function(&function, module, cuda::kChangeKernel), 500);
  EXPECT_EQ(gpu.calls.unload_module(module), kSuccess);
}

cuda::FillTable fill_of(cuda::DeviceAddress address, std::size_t size_bytes) {
  cuda::FillTable table{};
  table.range_count = 1;
  table.ranges[0] = {
      .address = address, .size_bytes = size_bytes, .bits = 0xABCD, .element_bytes = 2};
  return table;
}

TEST(FakeCuda, FindsAKernelThatIsNotOrderedBehindACopy) {
  expect_fault(HasSubstr("xtts_fill_ranges (stream 2, task 1) writes memory 1 at [0x2, 0x6)"),
               [](GpuUnderTest& gpu) {
                 Upload upload(gpu);
                 const auto other = gpu.stream();
                 upload.copy();
                 EXPECT_EQ(gpu.launch(cuda::kFillKernel, fill_of(upload.memory + 2, 4), other, 1),
                           kSuccess);
                 gpu.wait(other);
               });
}

TEST(FakeCuda, RefusesLaunchesThatTheGpuWouldRefuse) {
  GpuUnderTest gpu;
  const auto stream = gpu.stream();
  const auto memory = gpu.memory(kBytes);
  auto table = fill_of(memory, 8);
  EXPECT_EQ(gpu.launch(cuda::kFillKernel, table, stream, 2), 1);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("grid.y is 2, but the table has 1 ranges"));
  EXPECT_EQ(gpu.launch(cuda::kFillKernel, table, stream, 65536), 1);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("grid.y is 65536"));
  table.ranges[0].address += 1;
  EXPECT_EQ(gpu.launch(cuda::kFillKernel, table, stream, 1), 1);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("no multiple of 2"));
  table = fill_of(memory, kBytes + 2);
  EXPECT_EQ(gpu.launch(cuda::kFillKernel, table, stream, 1), 1);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("are no device memory"));
  table = fill_of(memory, 8);
  table.range_count = 2;
  table.ranges[1] = table.ranges[0];
  EXPECT_EQ(gpu.launch(cuda::kFillKernel, table, stream, 2), kSuccess);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("that its other threads use"));
  void* parameters[] = {&table};
  EXPECT_EQ(gpu.calls.launch(gpu.kernel(cuda::kFillKernel), 1, 2, 1, 512, 4, 1, 0, stream,
                             parameters, nullptr),
            1);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("a block has 2048 threads"));
}

TEST(FakeCuda, FindsAModuleThatIsUnloadedUnderAKernel) {
  expect_fault(HasSubstr("cuModuleUnload: module 1 is unloaded, but the host has not waited for"),
               [](GpuUnderTest& gpu) {
                 const auto stream = gpu.stream();
                 const auto memory = gpu.memory(kBytes);
                 EXPECT_EQ(gpu.launch(cuda::kFillKernel, fill_of(memory, 4), stream, 1), kSuccess);
                 EXPECT_EQ(gpu.calls.unload_module(gpu.module), kSuccess);
                 gpu.module = nullptr;
               });
}

}  // namespace
}  // namespace xtts::testing
