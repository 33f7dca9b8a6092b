#include "support/device_under_test.hpp"

#include <cstdlib>
#include <random>

#include "support/cuda_under_test.hpp"

namespace xtts::testing {

DeviceUnderTest::DeviceUnderTest(DeviceChoice choice, AdversaryOptions options) : choice_(choice) {
  if (choice == DeviceChoice::kCpu) return;
  seed_told_.emplace(__FILE__, __LINE__, "adversary's seed " + std::to_string(options.seed));
  if (choice == DeviceChoice::kCuda) {
    name_ = "cuda:0";
    cuda_under_test::begin(options.seed);
    return;
  }
  name_ = "adversary";
  adversary_ = AdversarialDevice::make(options);
  added_.emplace(name_, [made = adversary_](const device::DeviceOptions&) {
    return Result<std::shared_ptr<device::Device>>(made);
  });
}

DeviceUnderTest::~DeviceUnderTest() {
  if (choice_ == DeviceChoice::kCuda) {
    for (const std::string& fault : cuda_under_test::end()) ADD_FAILURE() << fault;
  }
  if (adversary_ == nullptr) return;
  EXPECT_EQ(adversary_->slot_count(), 0U) << "slots that nobody has given back";
  for (const std::string& fault : adversary_->faults()) ADD_FAILURE() << fault;
}

std::shared_ptr<device::Device> DeviceUnderTest::device() const {
  auto opened = device::Device::open(name_);
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  return *opened;
}

DeviceId DeviceUnderTest::id() const {
  if (choice_ == DeviceChoice::kCuda) return {DeviceKind::kCuda, 0};
  return adversary_ == nullptr ? DeviceId() : adversary_->id();
}

std::vector<std::byte> DeviceUnderTest::read(std::span<const std::byte> bytes) const {
  if (choice_ == DeviceChoice::kCuda) return cuda_under_test::read(bytes);
  if (adversary_ != nullptr) return adversary_->copy_to_host(bytes.data(), bytes.size());
  return {bytes.begin(), bytes.end()};
}

std::uintptr_t DeviceUnderTest::make_stream() const {
  if (choice_ == DeviceChoice::kCuda) return cuda_under_test::make_stream();
  return adversary_ == nullptr ? 0 : adversary_->make_stream();
}

void DeviceUnderTest::launch(std::uintptr_t stream, const std::byte* address,
                             std::size_t size_bytes, AdversarialDevice::Work work) const {
  if (choice_ == DeviceChoice::kCuda) {
    cuda_under_test::launch(stream, {address, size_bytes}, std::move(work));
  } else if (adversary_ != nullptr) {
    adversary_->launch(stream, address, size_bytes, std::move(work));
  } else {
    work({address, address + size_bytes});
  }
}

void DeviceUnderTest::finish(std::uintptr_t stream) const {
  if (choice_ == DeviceChoice::kCuda) cuda_under_test::finish(stream);
  if (adversary_ != nullptr) adversary_->finish(stream);
}

// XTTS_DEVICE_SEED repeats the seed of an earlier run.
std::uint64_t DeviceUnderTest::any_seed() {
  const char* const given = std::getenv("XTTS_DEVICE_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

std::vector<std::byte> read_from(const device::Device& device, std::span<const std::byte> bytes) {
  if (device.id().kind == DeviceKind::kCuda) return cuda_under_test::read(bytes);
  if (const auto* adversary = dynamic_cast<const AdversarialDevice*>(&device)) {
    return adversary->copy_to_host(bytes.data(), bytes.size());
  }
  return {bytes.begin(), bytes.end()};
}

}  // namespace xtts::testing
