#include "doctor/memory_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::doctor {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

MachineFacts healthy_machine() {
  MachineFacts machine;
  machine.core_count = 16;
  machine.memory_total_bytes = 64 * kGiB;
  machine.memory_available_bytes = 50 * kGiB;
  machine.shm_total_bytes = 32 * kGiB;
  machine.shm_free_bytes = 32 * kGiB;
  return machine;
}

LoaderShape usual_shape() {
  LoaderShape shape;
  shape.record_bytes = std::uint64_t{800} * 80 * 4;
  shape.worker_count = 16;
  return shape;
}

TEST(CheckMemory, AHealthyMachinePasses) {
  const Check check = check_memory(healthy_machine(), usual_shape());
  EXPECT_EQ(check.status, CheckStatus::kPass);
  EXPECT_THAT(check.findings, ::testing::IsEmpty());
}

TEST(CheckMemory, FailsWhereTheBatchesDoNotFit) {
  MachineFacts machine = healthy_machine();
  machine.memory_available_bytes = 300 * kMiB;
  EXPECT_EQ(check_memory(machine, usual_shape()).status, CheckStatus::kFail);
}

TEST(CheckMemory, WarnsBelowTheUsersSixteenGibibytes) {
  MachineFacts machine = healthy_machine();
  machine.memory_total_bytes = 8 * kGiB;
  machine.memory_available_bytes = 6 * kGiB;
  EXPECT_EQ(check_memory(machine, usual_shape()).status, CheckStatus::kWarn);
}

// Docker's own size of /dev/shm. 16 workers with 2 batches of 8 MiB each need 250 MiB.
TEST(CheckMemory, FindsASmallSharedMemory) {
  MachineFacts machine = healthy_machine();
  machine.shm_free_bytes = 64 * kMiB;
  const Check check = check_memory(machine, usual_shape());
  ASSERT_EQ(check.findings.size(), 1U);
  EXPECT_EQ(check.status, CheckStatus::kFail);
  EXPECT_THAT(check.findings[0].remedy, ::testing::HasSubstr("shm-size="));
}

TEST(CheckMemory, ALoaderWithoutWorkersNeedsNoSharedMemory) {
  MachineFacts machine = healthy_machine();
  machine.shm_free_bytes = 64 * kMiB;
  LoaderShape shape = usual_shape();
  shape.worker_count = 0;
  EXPECT_EQ(check_memory(machine, shape).status, CheckStatus::kPass);
  shape.worker_count.reset();
  EXPECT_EQ(check_memory(machine, shape).status, CheckStatus::kPass);
}

TEST(CheckMemory, CannotTellWhereTheSystemDoesNot) {
  EXPECT_EQ(check_memory(MachineFacts{}, usual_shape()).status, CheckStatus::kCannotTell);
}

TEST(ParseCpuLimit, ReadsAQuotaAndNoLimit) {
  EXPECT_EQ(parse_cpu_limit("150000 100000\n"), 1.5);
  EXPECT_EQ(parse_cpu_limit("max 100000\n"), std::nullopt);
  EXPECT_EQ(parse_cpu_limit(""), std::nullopt);
  EXPECT_EQ(parse_cpu_limit("0 0"), std::nullopt);
}

}  // namespace
}  // namespace xtts::doctor
