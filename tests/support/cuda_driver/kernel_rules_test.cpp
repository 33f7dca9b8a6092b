// The fake driver's rules of modules and launches, with a breach of each that it must find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <span>

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

constexpr std::size_t kResultPlace = 16'000;  // behind what is hashed, in the same memory

cuda::HashTable hash_of(cuda::DeviceAddress memory, std::size_t size_bytes) {
  cuda::HashTable table{};
  table.range_count = 1;
  table.ranges[0] = {
      .address = memory, .size_bytes = size_bytes, .seed = 5, .result = memory + kResultPlace};
  return table;
}

cuda::CallResult launch_hash(GpuUnderTest& gpu, cuda::HashTable table, cuda::StreamHandle stream,
                             unsigned columns = 1) {
  void* parameters[] = {&table};
  return gpu.calls.launch(gpu.kernel(cuda::kHashKernel), columns,
                          static_cast<unsigned>(table.range_count), 1, 256, 1, 1, 0, stream,
                          parameters, nullptr);
}

TEST(FakeCuda, HashesBytesThatACopyBringsBefore) {
  for (std::uint64_t seed = 0; seed < kSeedCount; ++seed) {
    GpuUnderTest gpu({.seed = seed});
    Upload upload(gpu);
    upload.copy();
    EXPECT_EQ(launch_hash(gpu, hash_of(upload.memory, 15'001), upload.stream), kSuccess);
    gpu.wait(upload.stream);
    const auto result = fake_cuda::copy_to_host(upload.memory + kResultPlace, 8);
    std::uint64_t hash = 0;
    std::memcpy(&hash, result.data(), sizeof hash);
    EXPECT_EQ(hash, check64(std::span(upload.host).first(15'001), 5));
  }
}

TEST(FakeCuda, FindsAHashThatIsNotOrderedBehindACopy) {
  expect_fault(HasSubstr("xtts_hash_ranges (stream 2, task 1) reads memory 1 at [0x0, 0x12c)"),
               [](GpuUnderTest& gpu) {
                 Upload upload(gpu);
                 const auto other = gpu.stream();
                 upload.copy();
                 EXPECT_EQ(launch_hash(gpu, hash_of(upload.memory, 300), other), kSuccess);
                 gpu.wait(other);
               });
}

TEST(FakeCuda, FindsAResultThatIsReadBeforeItsHash) {
  expect_fault(HasSubstr("cuMemcpyDtoHAsync"), [](GpuUnderTest& gpu) {
    Upload upload(gpu);
    const auto other = gpu.stream();
    upload.copy();
    gpu.wait(upload.stream);
    EXPECT_EQ(launch_hash(gpu, hash_of(upload.memory, 300), upload.stream), kSuccess);
    EXPECT_EQ(gpu.calls.copy_to_host(upload.host.data(), upload.memory + kResultPlace, 8, other),
              kSuccess);
    gpu.wait(other);
  });
}

TEST(FakeCuda, FindsBytesToHashThatNobodyWrote) {
  expect_fault(HasSubstr("never written"), [](GpuUnderTest& gpu) {
    const auto stream = gpu.stream();
    const auto memory = gpu.memory(kBytes);
    EXPECT_EQ(launch_hash(gpu, hash_of(memory, 300), stream), kSuccess);
    gpu.wait(stream);
  });
}

TEST(FakeCuda, RefusesHashesThatTheKernelDoesNotKnow) {
  GpuUnderTest gpu;
  Upload upload(gpu);
  upload.copy();
  const auto refused = [&](const cuda::HashTable& table, unsigned columns = 1) {
    EXPECT_EQ(launch_hash(gpu, table, upload.stream, columns), 1);
    return gpu.take_faults();
  };
  EXPECT_THAT(refused(hash_of(upload.memory, 240)), HasSubstr("of 240 bytes is hashed, and 241"));
  EXPECT_THAT(refused(hash_of(upload.memory, kBytes + 1)), HasSubstr("are no device memory"));
  EXPECT_THAT(refused(hash_of(upload.memory, 300), 2), HasSubstr("a grid of 2 columns"));
  auto table = hash_of(upload.memory, 300);
  table.ranges[0].result += 4;
  EXPECT_THAT(refused(table), HasSubstr("no multiple of 8"));
  table.ranges[0].result = upload.memory + 296;
  EXPECT_EQ(launch_hash(gpu, table, upload.stream), kSuccess);
  EXPECT_THAT(gpu.take_faults(), HasSubstr("that its other threads use"));
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
