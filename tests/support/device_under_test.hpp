// DeviceUnderTest: one of the devices that tests of memory run on: the CPU, or the one for CUDA
// over the driver that the program links (cuda_under_test.hpp). Destroy readers, batches and slots
// first: its destructor expects that no fault has happened and that nothing is left.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "support/cuda_under_test.hpp"

namespace xtts::testing {

enum class DeviceChoice : std::uint8_t { kCpu, kCuda };

class DeviceUnderTest {
 public:
  // The driver has a new seed in each run. A failing test prints it.
  explicit DeviceUnderTest(DeviceChoice choice,
                           const cuda_under_test::FailingCall& failing_call = {});
  ~DeviceUnderTest();
  DeviceUnderTest(const DeviceUnderTest&) = delete;
  DeviceUnderTest& operator=(const DeviceUnderTest&) = delete;

  // For ReaderOptions::device.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::shared_ptr<device::Device> device() const;
  [[nodiscard]] DeviceId id() const;
  // The host cannot read the device's memory, consumers have streams, and the device copies host()
  // to its memory, too.
  [[nodiscard]] bool has_own_memory() const noexcept { return choice_ == DeviceChoice::kCuda; }

  // Reads bytes on the device. Wait for their event first.
  [[nodiscard]] std::vector<std::byte> read(std::span<const std::byte> bytes) const;

  // A consumer's stream; 0 on the CPU.
  [[nodiscard]] std::uintptr_t make_stream() const;
  // Reads the bytes in the stream's order, and calls `work` with them; on the CPU at once.
  using Work = std::function<void(std::vector<std::byte> bytes)>;
  void launch(std::uintptr_t stream, const std::byte* address, std::size_t size_bytes,
              Work work) const;
  void finish(std::uintptr_t stream) const;

 private:
  DeviceChoice choice_;
  std::string name_ = "cpu";
  std::optional<::testing::ScopedTrace> seed_told_;
};

// Reads bytes as a consumer of this device does.
[[nodiscard]] std::vector<std::byte> read_from(const device::Device& device,
                                               std::span<const std::byte> bytes);

// The devices that a parameterized test runs on.
[[nodiscard]] inline auto all_devices() {
  return ::testing::Values(DeviceChoice::kCpu, DeviceChoice::kCuda);
}
[[nodiscard]] inline std::string name_of(DeviceChoice choice) {
  return choice == DeviceChoice::kCpu ? "Cpu" : "Cuda";
}

}  // namespace xtts::testing
