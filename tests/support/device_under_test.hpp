// DeviceUnderTest: one of the devices that tests of memory run on: the CPU, the adversarial one, or
// the one for CUDA over the driver that the program links (cuda_under_test.hpp). Device::open()
// knows its name while this object lives. Destroy readers, batches and slots first: its destructor
// expects that no fault has happened and that no slot is left.
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

enum class DeviceChoice : std::uint8_t { kCpu, kAdversary, kCuda };

class DeviceUnderTest {
 public:
  // Adversaries have a new seed in each run. A failing test prints it.
  explicit DeviceUnderTest(DeviceChoice choice, AdversaryOptions options = {.seed = any_seed()});
  ~DeviceUnderTest();
  DeviceUnderTest(const DeviceUnderTest&) = delete;
  DeviceUnderTest& operator=(const DeviceUnderTest&) = delete;

  // For ReaderOptions::device.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::shared_ptr<device::Device> device() const;
  [[nodiscard]] DeviceId id() const;
  // The host cannot read the device's memory, and consumers have streams.
  [[nodiscard]] bool has_own_memory() const noexcept { return choice_ != DeviceChoice::kCpu; }
  // The device copies host() to its memory, too.
  [[nodiscard]] bool shows_host_data() const noexcept { return choice_ == DeviceChoice::kCuda; }

  // Reads bytes on the device. Wait for their event first.
  [[nodiscard]] std::vector<std::byte> read(std::span<const std::byte> bytes) const;

  // A consumer's stream; 0 on the CPU.
  [[nodiscard]] std::uintptr_t make_stream() const;
  // Reads the bytes in the stream's order, and calls `work` with them; on the CPU at once.
  void launch(std::uintptr_t stream, const std::byte* address, std::size_t size_bytes,
              AdversarialDevice::Work work) const;
  void finish(std::uintptr_t stream) const;

  [[nodiscard]] static std::uint64_t any_seed();

 private:
  DeviceChoice choice_;
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
  return ::testing::Values(DeviceChoice::kCpu, DeviceChoice::kAdversary, DeviceChoice::kCuda);
}
[[nodiscard]] inline std::string name_of(DeviceChoice choice) {
  return choice == DeviceChoice::kCpu    ? "Cpu"
         : choice == DeviceChoice::kCuda ? "Cuda"
                                         : "Adversary";
}

}  // namespace xtts::testing
