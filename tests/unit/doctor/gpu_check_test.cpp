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

// Two GPUs, the first with this link to the second.
Check check_pair(const device::GpuLink& link) {
  GpuState first = healthy_gpu();
  first.peers.push_back({1, link});
  return check_gpus(std::vector<GpuState>{std::move(first), healthy_gpu()});
}

TEST(CheckGpus, FindsTwoThatCannotCopyDirectly) {
  const Check check = check_pair({"through the link between two processors", false, false});
  EXPECT_EQ(check.status, CheckStatus::kWarn);
  EXPECT_THAT(check.summary, ::testing::HasSubstr("GPU 0 and GPU 1 cannot copy directly"));
}

TEST(CheckGpus, TwoThatAreWellConnectedPass) {
  const Check check = check_pair({"through one PCIe switch", true, true});
  EXPECT_EQ(check.status, CheckStatus::kPass);
  EXPECT_THAT(check.evidence,
              ::testing::Contains(::testing::Field(
                  &Evidence::value, "through one PCIe switch, NVLink, direct copies")));
}

TEST(CheckGpus, ALinkThatTheDriverDoesNotTellIsNoFault) {
  EXPECT_EQ(check_pair({}).status, CheckStatus::kPass);
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
