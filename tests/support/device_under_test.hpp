// DeviceUnderTest: one of the devices that tests of memory run on: the CPU, or the adversarial one.
// It is there, under its name, while this lives, and the end of this expects that nothing was done
// wrong and nothing is left: readers, batches and slots go before it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/adversarial_device.hpp"

namespace xtts::testing {

enum class DeviceChoice : std::uint8_t { kCpu, kAdversary };

class DeviceUnderTest {
 public:
  // The adversary's seed is another one in each run, and told where a test fails.
  explicit DeviceUnderTest(DeviceChoice choice, AdversaryOptions options = {.seed = any_seed()});
  ~DeviceUnderTest();
  DeviceUnderTest(const DeviceUnderTest&) = delete;
  DeviceUnderTest& operator=(const DeviceUnderTest&) = delete;

  // For ReaderOptions::device.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::shared_ptr<device::Device> device() const;
  [[nodiscard]] bool is_adversary() const noexcept { return adversary_ != nullptr; }
  [[nodiscard]] AdversarialDevice& adversary() const { return *adversary_; }

  // Of what lies on the device, whose event was waited for.
  [[nodiscard]] std::vector<std::byte> read(std::span<const std::byte> bytes) const;

  [[nodiscard]] static std::uint64_t any_seed();

 private:
  std::string name_ = "cpu";
  std::shared_ptr<AdversarialDevice> adversary_;
  std::optional<device::AddedDevice> added_;
  std::optional<::testing::ScopedTrace> seed_told_;
};

// As a consumer of this device finds them.
[[nodiscard]] std::vector<std::byte> read_from(const device::Device& device,
                                               std::span<const std::byte> bytes);

// Which devices a parameterized test runs on, and their names.
[[nodiscard]] inline auto all_devices() {
  return ::testing::Values(DeviceChoice::kCpu, DeviceChoice::kAdversary);
}
[[nodiscard]] inline std::string name_of(DeviceChoice choice) {
  return choice == DeviceChoice::kCpu ? "Cpu" : "Adversary";
}

}  // namespace xtts::testing
