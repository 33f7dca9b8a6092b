// The kernel that hashes, as the driver runs it: bytes that were copied to the GPU have the hash
// that the CPU computes.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "cuda/context.hpp"
#include "cuda/kernels.hpp"
#include "cuda/memory.hpp"
#include "cuda/stream.hpp"
#include "device/host_memory.hpp"

namespace xtts::cuda {
namespace {

// The sizes are those around a stripe's, a block's and a tile's border, and those of records.
constexpr std::size_t kSizes[] = {241,    300,     1023,    1024,    1025,
                                  1089,   5'003,   65'535,  65'536,  65'537,
                                  66'561, 131'073, 256'000, 256'007, 1'000'003};
// A missing order between the kernel's threads need not show in one launch.
constexpr std::size_t kLaunches = 20;
constexpr std::size_t kResultsBytes = sizeof(std::uint64_t) * std::size(kSizes) * kLaunches;

template <typename T>
T must(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.status().message();
  return std::move(*result);
}

TEST(HashKernelCuda, EqualsTheHostsHash) {
  const std::shared_ptr<const Context> context = must(Context::open(0));
  const auto kernels = must(Kernels::load(context));
  const Stream stream = must(Stream::create(context));
  std::size_t total = kResultsBytes;
  HashTable table{};
  for (const std::size_t size : kSizes) {
    const std::size_t skew = table.range_count % 8;
    table.ranges[table.range_count++] = {
        .address = total + skew, .size_bytes = size, .seed = size % 3};
    total += (skew + size + 7) / 8 * 8;
  }
  const auto host = must(device::HostMemory::allocate(total, {.is_kept_from_children = true}));
  const HostLock lock = must(HostLock::lock(context, host.bytes()));
  const DeviceMemory memory = must(DevicePool::of(context)->allocate(total));
  std::mt19937 random(47);
  for (std::byte& byte : host.bytes()) byte = static_cast<std::byte>(random());
  std::vector<std::uint64_t> wanted;
  for (std::size_t i = 0; i < table.range_count; ++i) {
    HashRange& range = table.ranges[i];
    wanted.push_back(check64(host.bytes().subspan(range.address, range.size_bytes), range.seed));
    range.address += memory.address();
  }
  const auto copy = [&](auto call, auto to, auto from, std::size_t size_bytes) {
    ASSERT_TRUE(context
                    ->run("copying",
                          [&](const DriverCalls& calls) {
                            return (calls.*call)(to, from, size_bytes, stream.handle());
                          })
                    .ok());
  };
  copy(&DriverCalls::copy_to_device, memory.address(), host.bytes().data(), total);
  for (std::size_t launch = 0; launch < kLaunches; ++launch) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      table.ranges[i].result =
          memory.address() + sizeof(std::uint64_t) * (launch * wanted.size() + i);
    }
    const Status status = kernels->hash(table, stream.handle());
    ASSERT_TRUE(status.ok()) << status.message();
  }
  ASSERT_TRUE(stream.wait().ok());
  copy(&DriverCalls::copy_to_host, host.bytes().data(), memory.address(), kResultsBytes);
  ASSERT_TRUE(stream.wait().ok());
  for (std::size_t launch = 0; launch < kLaunches; ++launch) {
    std::vector<std::uint64_t> found(wanted.size());
    const std::size_t size_bytes = sizeof(std::uint64_t) * found.size();
    std::memcpy(found.data(), host.bytes().data() + launch * size_bytes, size_bytes);
    EXPECT_EQ(found, wanted) << "launch " << launch;
  }
}

}  // namespace
}  // namespace xtts::cuda
