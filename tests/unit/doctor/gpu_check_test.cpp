#include "doctor/gpu_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::doctor {
namespace {

GpuState healthy_gpu() {
  static int handle = 0;
  GpuState gpu;
  gpu.facts.gpu = reinterpret_cast<device::Gpu>(&handle);
  gpu.facts.name = "NVIDIA GeForce RTX 4090";
  gpu.facts.driver_version = "570.86.15";
  gpu.facts.cuda_version = 12'080;
  gpu.facts.memory_total_bytes = std::uint64_t{24} << 30U;
  gpu.facts.pcie_width = 16;
  gpu.facts.pcie_width_max = 16;
  gpu.reading.throttle_reasons.emplace();
  return gpu;
}

CheckStatus status_of(GpuState gpu) {
  return check_gpus(std::vector<GpuState>{std::move(gpu)}).status;
}

TEST(CheckGpus, NoDriverIsACleanAnswer) {
  const Check check =
      check_gpus(Status(StatusCode::kUnsupported, "this machine has no NVIDIA library"));
  EXPECT_EQ(check.status, CheckStatus::kCannotTell);
  EXPECT_THAT(check.summary, ::testing::HasSubstr("no NVIDIA library"));
  EXPECT_THAT(check.findings, ::testing::IsEmpty());
}

TEST(CheckGpus, AHealthyGpuPasses) {
  EXPECT_EQ(status_of(healthy_gpu()), CheckStatus::kPass);
}

TEST(CheckGpus, FindsAnOldDriver) {
  GpuState gpu = healthy_gpu();
  gpu.facts.cuda_version = 10'020;
  EXPECT_EQ(status_of(gpu), CheckStatus::kWarn);
}

TEST(CheckGpus, FindsASlotWithFewLanes) {
  GpuState gpu = healthy_gpu();
  gpu.facts.pcie_width = 4;
  EXPECT_EQ(status_of(gpu), CheckStatus::kWarn);
}

TEST(CheckGpus, FindsSlowedClocks) {
  GpuState gpu = healthy_gpu();
  gpu.reading.throttle_reasons->push_back("thermal");
  EXPECT_EQ(status_of(gpu), CheckStatus::kWarn);
}

TEST(CheckGpus, ALostGpuFails) {
  GpuState gpu;
  gpu.facts.missing = {{"all", "the GPU is lost"}};
  EXPECT_EQ(status_of(gpu), CheckStatus::kFail);
}

TEST(CheckGpus, ValuesThatTheDriverDoesNotTellAreNoFault) {
  GpuState gpu = healthy_gpu();
  gpu.facts.cuda_version.reset();
  gpu.facts.pcie_width.reset();
  gpu.reading.throttle_reasons.reset();
  EXPECT_EQ(status_of(gpu), CheckStatus::kPass);
}

}  // namespace
}  // namespace xtts::doctor
