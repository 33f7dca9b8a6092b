#include "support/device_under_test.hpp"

#include <cstdlib>
#include <random>

namespace xtts::testing {
namespace {

// XTTS_DEVICE_SEED repeats the seed of an earlier run.
std::uint64_t any_seed() {
  const char* const given = std::getenv("XTTS_DEVICE_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

}  // namespace

DeviceUnderTest::DeviceUnderTest(DeviceChoice choice,
                                 const cuda_under_test::FailingCall& failing_call)
    : choice_(choice) {
  if (choice == DeviceChoice::kCpu) return;
  name_ = "cuda:0";
  const std::uint64_t seed = any_seed();
  seed_told_.emplace(__FILE__, __LINE__, "the driver's seed " + std::to_string(seed));
  cuda_under_test::begin(seed, failing_call);
}

DeviceUnderTest::~DeviceUnderTest() {
  if (choice_ == DeviceChoice::kCpu) return;
  for (const std::string& fault : cuda_under_test::end()) ADD_FAILURE() << fault;
}

std::shared_ptr<device::Device> DeviceUnderTest::device() const {
  auto opened = device::Device::open(name_);
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  return *opened;
}

DeviceId DeviceUnderTest::id() const {
  return has_own_memory() ? DeviceId{DeviceKind::kCuda, 0} : DeviceId();
}

std::vector<std::byte> DeviceUnderTest::read(std::span<const std::byte> bytes) const {
  if (has_own_memory()) return cuda_under_test::read(bytes);
  return {bytes.begin(), bytes.end()};
}

std::uintptr_t DeviceUnderTest::make_stream() const {
  return has_own_memory() ? cuda_under_test::make_stream() : 0;
}

void DeviceUnderTest::launch(std::uintptr_t stream, const std::byte* address,
                             std::size_t size_bytes, Work work) const {
  if (has_own_memory()) {
    cuda_under_test::launch(stream, {address, size_bytes}, std::move(work));
  } else {
    work({address, address + size_bytes});
  }
}

void DeviceUnderTest::finish(std::uintptr_t stream) const {
  if (has_own_memory()) cuda_under_test::finish(stream);
}

std::vector<std::byte> read_from(const device::Device& device, std::span<const std::byte> bytes) {
  if (!device.reads_host_memory()) return cuda_under_test::read(bytes);
  return {bytes.begin(), bytes.end()};
}

}  // namespace xtts::testing
