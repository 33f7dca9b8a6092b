#include "report/gpu_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::report {
namespace {

using ::testing::ElementsAre;

TEST(GpuLines, TellAllThatWasRead) {
  GpuUse use{.sample_count = 50, .seconds = 5.0, .name = "NVIDIA GeForce RTX 4090"};
  use.utilization = {.mean = 21.4, .std = 19.0, .min = 2.0, .max = 40.0};
  use.memory_used_bytes = {.mean = 1e9, .std = 0.0, .min = 1e9, .max = 3.0 * (1 << 30)};
  use.memory_total_bytes = 24ULL << 30;
  use.pcie_received_bytes_per_s = {.mean = 2.5 * (1 << 30), .std = 0.0, .min = 0.0, .max = 0.0};
  use.pcie_sent_bytes_per_s = {.mean = 1 << 20, .std = 0.0, .min = 0.0, .max = 0.0};
  use.pcie_generation = 3;
  use.pcie_generation_max = 4;
  use.pcie_width = use.pcie_width_max = 16;
  use.sm_clock_mhz = {.mean = 2520.0, .std = 0.0, .min = 0.0, .max = 0.0};
  use.memory_clock_mhz = {.mean = 10501.0, .std = 0.0, .min = 0.0, .max = 0.0};
  use.power_w = {.mean = 123.4, .std = 0.0, .min = 0.0, .max = 0.0};
  use.power_limit_w = 450.0;
  use.temperature_c = {.mean = 60.0, .std = 0.0, .min = 0.0, .max = 61.0};
  use.throttle_reasons = {"power limit", "heat (driver)"};
  EXPECT_THAT(
      gpu_lines(use),
      ElementsAre("GPU NVIDIA GeForce RTX 4090: busy 21 ± 19 % of the time (2 to 40 %), 3.0 GiB of "
                  "24.0 GiB of memory in use, 50 samples",
                  "PCIe: 2.5 GiB/s to the GPU, 1.0 MiB/s from it, generation 3 of 4, lanes 16",
                  "clock 2520 MHz, memory clock 10501 MHz, 123 of 450 W, 61 °C, slowed down by "
                  "power limit, heat (driver)"));
}

TEST(GpuLines, LeaveOutWhatIsAbsentAndSayWhy) {
  const GpuUse use{.sample_count = 1, .missing = "utilization: the GPU does not tell"};
  EXPECT_THAT(gpu_lines(use),
              ElementsAre("GPU: 1 sample", "not read: utilization: the GPU does not tell"));
}

TEST(GpuLines, SayThatAShortWatchShowsTheTimeBefore) {
  GpuUse use{.sample_count = 1, .seconds = 0.25};
  use.utilization = GpuSpread{};
  EXPECT_THAT(gpu_lines(use),
              ElementsAre("GPU: busy 0 ± 0 % of the time (0 to 0 %), 1 sample",
                          "the GPU was watched for 0.25 s, and its utilization is a mean over up "
                          "to 1 s: measure more batches"));
}

TEST(GpuLines, SayInOneLineThatNothingWasRead) {
  EXPECT_THAT(gpu_lines(GpuUse{.missing = "no library"}),
              ElementsAre("the GPU was not watched: no library"));
}

}  // namespace
}  // namespace xtts::report
