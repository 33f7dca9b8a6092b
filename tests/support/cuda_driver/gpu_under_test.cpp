#include "support/cuda_driver/gpu_under_test.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/kernels/range_tables.hpp"

namespace xtts::testing {

std::vector<std::byte> some_bytes(std::size_t size_bytes, unsigned seed) {
  std::vector<std::byte> bytes(size_bytes);
  for (std::size_t i = 0; i < size_bytes; ++i) {
    bytes[i] = static_cast<std::byte>((i * 7 + seed * 31 + i / 251) & 0xFFU);
  }
  return bytes;
}

GpuUnderTest::GpuUnderTest(const fake_cuda::Options& options) {
  fake_cuda::reset(options);
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    ADD_FAILURE() << ::dlerror();
    return;
  }
#define XTTS_FIND(name, symbol, parameters)                                       \
  calls.name = reinterpret_cast<decltype(calls.name)>(::dlsym(library, #symbol)); \
  EXPECT_NE(calls.name, nullptr) << #symbol;
  XTTS_CUDA_DRIVER_CALLS(XTTS_FIND)
  XTTS_CUDA_NEWER_DRIVER_CALLS(XTTS_FIND)
#undef XTTS_FIND
  expect(calls.init(0), "cuInit");
  expect(calls.retain_context(&context, 0), "cuDevicePrimaryCtxRetain");
  expect(calls.push_context(context), "cuCtxPushCurrent");
}

GpuUnderTest::~GpuUnderTest() {
  close();
  EXPECT_EQ(take_faults(), "");
}

void GpuUnderTest::expect(cuda::CallResult result, const char* what) {
  EXPECT_EQ(result, cuda::kSuccess) << what;
}

cuda::StreamHandle GpuUnderTest::stream(unsigned flags) {
  cuda::StreamHandle made = nullptr;
  expect(calls.create_stream(&made, flags, 0), "cuStreamCreateWithPriority");
  streams_.push_back(made);
  return made;
}

cuda::EventHandle GpuUnderTest::event() {
  cuda::EventHandle made = nullptr;
  expect(calls.create_event(&made, cuda::kEventWithoutTiming), "cuEventCreate");
  events_.push_back(made);
  return made;
}

cuda::DeviceAddress GpuUnderTest::memory(std::size_t size_bytes) {
  cuda::DeviceAddress made = 0;
  expect(calls.allocate(&made, size_bytes), "cuMemAlloc");
  memories_.push_back(made);
  return made;
}

void GpuUnderTest::lock(std::vector<std::byte>& host) {
  expect(calls.lock_host_memory(host.data(), host.size(), cuda::kHostMemoryPortable),
         "cuMemHostRegister");
  locked_.push_back(host.data());
}

void GpuUnderTest::unlock(std::vector<std::byte>& host) {
  expect(calls.unlock_host_memory(host.data()), "cuMemHostUnregister");
  std::erase(locked_, host.data());
}

void GpuUnderTest::copy_in(cuda::DeviceAddress to, const std::vector<std::byte>& from,
                           cuda::StreamHandle stream) {
  expect(calls.copy_to_device(to, from.data(), from.size(), stream), "cuMemcpyHtoDAsync");
}

void GpuUnderTest::record(cuda::EventHandle event, cuda::StreamHandle stream) {
  expect(calls.record_event(event, stream), "cuEventRecord");
}

void GpuUnderTest::let_wait(cuda::StreamHandle stream, cuda::EventHandle event) {
  expect(calls.let_stream_wait(stream, event, 0), "cuStreamWaitEvent");
}

void GpuUnderTest::wait(cuda::StreamHandle stream) {
  expect(calls.synchronize_stream(stream), "cuStreamSynchronize");
}

void GpuUnderTest::wait(cuda::EventHandle event) {
  expect(calls.synchronize_event(event), "cuEventSynchronize");
}

cuda::FunctionHandle GpuUnderTest::kernel(const char* name) {
  if (module == nullptr) {
    expect(calls.load_module(&module, fake_cuda::kTestImage), "cuModuleLoadData");
  }
  cuda::FunctionHandle found = nullptr;
  expect(calls.find_function(&found, module, name), "cuModuleGetFunction");
  return found;
}

void GpuUnderTest::close() {
  if (is_closed_) return;
  is_closed_ = true;
  for (const auto one : streams_) {
    wait(one);
    expect(calls.destroy_stream(one), "cuStreamDestroy");
  }
  for (const auto one : events_) expect(calls.destroy_event(one), "cuEventDestroy");
  for (std::byte* const one : locked_) {
    expect(calls.unlock_host_memory(one), "cuMemHostUnregister");
  }
  for (const auto one : memories_) expect(calls.free(one), "cuMemFree");
  if (module != nullptr) expect(calls.unload_module(module), "cuModuleUnload");
  cuda::ContextHandle before = nullptr;
  expect(calls.pop_context(&before), "cuCtxPopCurrent");
  EXPECT_THAT(fake_cuda::leftovers(), ::testing::SizeIs(1));  // the context
  expect(calls.release_context(0), "cuDevicePrimaryCtxRelease");
}

std::string GpuUnderTest::take_faults() {
  const auto all = fake_cuda::faults();
  std::string taken;
  for (std::size_t i = std::min(taken_count_, all.size()); i < all.size(); ++i) {
    taken += (taken.empty() ? "" : "\n") + all[i];
  }
  taken_count_ = all.size();
  return taken;
}

}  // namespace xtts::testing
