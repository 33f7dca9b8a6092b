#include <map>
#include <memory>
#include <stdexcept>

#include "cuda/device_pool.hpp"
#include "cuda/stream.hpp"
#include "device/host_memory.hpp"
#include "support/cuda_under_test.hpp"

namespace xtts::testing::cuda_under_test {
namespace {

// A copy to the host that a stream makes in its order.
struct Copy {
  device::HostMemory memory;
  cuda::HostLock locked;
  std::size_t size_bytes = 0;
  std::function<void(std::vector<std::byte> bytes)> work = {};
};

struct Gpu {
  std::shared_ptr<const cuda::Context> context;
  std::vector<cuda::Stream> streams;
  std::multimap<std::uintptr_t, Copy> copies;
};

std::unique_ptr<Gpu> gpu;

// A failure here is the machine's: the test cannot go on.
template <typename T>
T must(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().message());
  return std::move(*result);
}
void must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

Copy begin_copy(cuda::StreamHandle stream, std::span<const std::byte> bytes) {
  auto memory = must(device::HostMemory::allocate(bytes.size(), {.is_kept_from_children = true}));
  auto locked = must(cuda::HostLock::lock(gpu->context, memory.bytes()));
  must(gpu->context->run("copying to the host", [&](const cuda::DriverCalls& calls) {
    return calls.copy_to_host(memory.bytes().data(),
                              reinterpret_cast<cuda::DeviceAddress>(bytes.data()), bytes.size(),
                              stream);
  }));
  return {.memory = std::move(memory), .locked = std::move(locked), .size_bytes = bytes.size()};
}

std::vector<std::byte> bytes_of(Copy& copy) {
  const auto bytes = copy.memory.bytes().first(copy.size_bytes);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

bool is_double() {
  return false;
}

void begin(std::uint64_t, const FailingCall&) {
  gpu = std::make_unique<Gpu>();
  gpu->context = must(cuda::Context::open(0));
}

std::vector<std::string> end() {
  gpu.reset();
  return {};
}

std::vector<std::byte> read(std::span<const std::byte> bytes) {
  const auto stream = must(cuda::Stream::create(gpu->context));
  Copy copy = begin_copy(stream.handle(), bytes);
  must(stream.wait());
  return bytes_of(copy);
}

std::uintptr_t make_stream() {
  gpu->streams.push_back(must(cuda::Stream::create(gpu->context)));
  return reinterpret_cast<std::uintptr_t>(gpu->streams.back().handle());
}

void launch(std::uintptr_t stream, std::span<const std::byte> bytes,
            std::function<void(std::vector<std::byte> bytes)> work) {
  Copy copy = begin_copy(reinterpret_cast<cuda::StreamHandle>(stream), bytes);
  copy.work = std::move(work);
  gpu->copies.emplace(stream, std::move(copy));
}

void finish(std::uintptr_t stream) {
  must(gpu->context->run("waiting for a stream", [&](const cuda::DriverCalls& calls) {
    return calls.synchronize_stream(reinterpret_cast<cuda::StreamHandle>(stream));
  }));
  const auto [begin, end] = gpu->copies.equal_range(stream);
  for (auto copy = begin; copy != end; ++copy) copy->second.work(bytes_of(copy->second));
  gpu->copies.erase(begin, end);
}

}  // namespace xtts::testing::cuda_under_test
