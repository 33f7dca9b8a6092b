// DeviceUnderTest: one of the devices that tests of memory run on, the CPU or the adversarial one.
// Device::open() knows its name while this object lives. Destroy readers, batches and slots first:
// its destructor expects that no fault has happened and that no slot is left.
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
  // The adversary has a new seed in each run. A failing test prints it.
  explicit DeviceUnderTest(DeviceChoice choice, AdversaryOptions options = {.seed = any_seed()});
  ~DeviceUnderTest();
  DeviceUnderTest(const DeviceUnderTest&) = delete;
  DeviceUnderTest& operator=(const DeviceUnderTest&) = delete;

  // For ReaderOptions::device.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::shared_ptr<device::Device> device() const;
  [[nodiscard]] bool is_adversary() const noexcept { return adversary_ != nullptr; }
  [[nodiscard]] AdversarialDevice& adversary() const { return *adversary_; }

  // Reads bytes on the device. Wait for their event first.
  [[nodiscard]] std::vector<std::byte> read(std::span<const std::byte> bytes) const;

  [[nodiscard]] static std::uint64_t any_seed();

 private:
  std::string name_ = "cpu";
  std::shared_ptr<AdversarialDevice> adversary_;
  std::optional<device::AddedDevice> added_;
  std::optional<::testing::ScopedTrace> seed_told_;
};

// Reads bytes as a consumer of this device does.
[[nodiscard]] std::vector<std::byte> read_from(const device::Device& device,
                                               std::span<const std::byte> bytes);

// The devices that a parameterized test runs on.
[[nodiscard]] inline auto all_devices() {
  return ::testing::Values(DeviceChoice::kCpu, DeviceChoice::kAdversary);
}
[[nodiscard]] inline std::string name_of(DeviceChoice choice) {
  return choice == DeviceChoice::kCpu ? "Cpu" : "Adversary";
}

}  // namespace xtts::testing
