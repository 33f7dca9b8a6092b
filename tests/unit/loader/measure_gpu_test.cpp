// measure() watches the GPU that consumes the batches. The GPU is a double: NVML's answers come
// from tests/support/nvml, and its slots are the CPU's.

#include <gtest/gtest.h>

#include <cstdlib>

#include "device/cpu_device.hpp"
#include "loader/measure.hpp"
#include "tests/unit/loader/made_cache.hpp"

namespace xtts::loader {
namespace {

class MadeGpu final : public device::Device {
 public:
  MadeGpu(std::shared_ptr<Device> cpu, std::string place)
      : cpu_(std::move(cpu)), place_(std::move(place)) {}
  [[nodiscard]] DeviceId id() const noexcept override { return {DeviceKind::kCuda, 0}; }
  [[nodiscard]] std::string pci_bus_id() const override { return place_; }
  [[nodiscard]] bool reads_host_memory() const noexcept override { return true; }
  [[nodiscard]] Result<std::unique_ptr<device::SlotMemory>> make_slot(
      const device::SlotBytes& size) override {
    return cpu_->make_slot(size);
  }
  [[nodiscard]] std::string shortfall() const override { return {}; }

 private:
  std::shared_ptr<Device> cpu_;
  std::string place_;
};

Measured measure_on(const std::string& device) {
  const MadeCache cache({.clip_count = 20});
  const auto caches = reader::CacheSet::open(Env::real(), cache.path());
  EXPECT_TRUE(caches.ok()) << caches.status().message();
  auto measured =
      measure(*caches, {.reader = {.batch_size = 4, .device = device}, .batch_count = 5});
  EXPECT_TRUE(measured.ok()) << measured.status().message();
  return *measured;
}

Measured measure_at(const std::string& place) {
  const device::AddedDevice added("made_gpu", [&](const device::DeviceOptions& options) {
    return Result<std::shared_ptr<device::Device>>(
        std::make_shared<MadeGpu>(*device::open_cpu(options), place));
  });
  return measure_on("made_gpu");
}

TEST(MeasureOnAGpu, WatchesTheGpuInBothPasses) {
  const testing::TempFolder folder;
  ::setenv("XTTS_NVML", folder.write("nvml", "gpus = 2\n1.utilization = 7\n").c_str(), 1);
  const Measured measured = measure_at("0000:02:00.0");
  for (const MeasuredPass& pass : {measured.first, measured.again}) {
    ASSERT_TRUE(pass.gpu);
    EXPECT_GE(pass.gpu->sample_count, 1U);
    EXPECT_EQ(pass.gpu->utilization->mean, 7.0);
    EXPECT_TRUE(pass.gpu->pcie_received_bytes_per_s);
    EXPECT_EQ(pass.gpu->missing, "");
  }
}

TEST(MeasureOnAGpu, SaysWhyTheGpuWasNotWatched) {
  const testing::TempFolder folder;
  ::setenv("XTTS_NVML", folder.write("nvml", "init = !9\n").c_str(), 1);
  const Measured measured = measure_at("0000:01:00.0");
  ASSERT_TRUE(measured.again.gpu);
  EXPECT_EQ(measured.again.gpu->sample_count, 0U);
  EXPECT_EQ(measured.again.gpu->missing, "starting NVML: the NVIDIA driver is not loaded");
  EXPECT_EQ(measure_at("").again.gpu->missing,
            "the NVIDIA driver does not tell the GPU's PCI bus id");
}

TEST(MeasureOnAGpu, AsksNobodyOnTheCpu) {
  EXPECT_FALSE(measure_on("cpu").again.gpu);
}

}  // namespace
}  // namespace xtts::loader
