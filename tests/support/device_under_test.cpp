#include "support/device_under_test.hpp"

#include <cstdlib>
#include <random>

namespace xtts::testing {

DeviceUnderTest::DeviceUnderTest(DeviceChoice choice, AdversaryOptions options) {
  if (choice == DeviceChoice::kCpu) return;
  name_ = "adversary";
  adversary_ = AdversarialDevice::make(options);
  added_.emplace(name_, [made = adversary_](const device::DeviceOptions&) {
    return Result<std::shared_ptr<device::Device>>(made);
  });
  seed_told_.emplace(__FILE__, __LINE__, "adversary's seed " + std::to_string(options.seed));
}

DeviceUnderTest::~DeviceUnderTest() {
  if (adversary_ == nullptr) return;
  EXPECT_EQ(adversary_->slot_count(), 0U) << "slots that nobody has given back";
  for (const std::string& fault : adversary_->faults()) ADD_FAILURE() << fault;
}

std::shared_ptr<device::Device> DeviceUnderTest::device() const {
  auto opened = device::Device::open(name_);
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  return *opened;
}

std::vector<std::byte> DeviceUnderTest::read(std::span<const std::byte> bytes) const {
  return read_from(*device(), bytes);
}

// XTTS_DEVICE_SEED repeats the seed of an earlier run.
std::uint64_t DeviceUnderTest::any_seed() {
  const char* const given = std::getenv("XTTS_DEVICE_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

std::vector<std::byte> read_from(const device::Device& device, std::span<const std::byte> bytes) {
  if (const auto* adversary = dynamic_cast<const AdversarialDevice*>(&device)) {
    return adversary->copy_to_host(bytes.data(), bytes.size());
  }
  return {bytes.begin(), bytes.end()};
}

}  // namespace xtts::testing
