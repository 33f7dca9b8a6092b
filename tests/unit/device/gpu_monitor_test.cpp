// GpuMonitor and GpuSampler on a libnvidia-ml.so.1 of our own (tests/support/nvml).

#include "device/gpu_monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "device/gpu_sampler.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/loader/in_child.hpp"

namespace xtts::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

// Says what the double answers. Each test has settings of its own.
class NvmlTest : public ::testing::Test {
 protected:
  NvmlTest() { ::setenv("XTTS_NVML", (folder_.path() + "/nvml").c_str(), 1); }

  void set(const std::string& lines) { (void)folder_.write("nvml", lines); }
  static std::shared_ptr<const GpuMonitor> monitor() {
    auto opened = GpuMonitor::open();
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return *opened;
  }
  static std::unique_ptr<GpuSampler> sampler(const std::string& place = "0000:01:00.0") {
    auto opened = GpuSampler::open(place, {.interval = 1ms, .reads_pcie = true});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return std::move(*opened);
  }
  // Samples until there are `count` samples.
  static GpuUse sampled(GpuSampler& sampler, std::uint64_t count) {
    EXPECT_TRUE(sampler.start().ok());
    while (sampler.use().sample_count < count) std::this_thread::sleep_for(1ms);
    sampler.stop();
    return sampler.use();
  }
  static GpuReading reading() {
    const auto opened = monitor();
    return opened->read(*opened->find("0000:01:00.0"), PcieReading::kThroughput);
  }

 private:
  xtts::testing::TempFolder folder_;
};

using GpuMonitorTest = NvmlTest;
using GpuSamplerTest = NvmlTest;

TEST_F(GpuMonitorTest, ListsGpus) {
  set("gpus = 2\n1.name = NVIDIA GeForce RTX 4090\n1.pcie_generation = 1\n");
  const auto gpus = monitor()->gpus();
  ASSERT_TRUE(gpus.ok()) << gpus.status().message();
  ASSERT_EQ(gpus->size(), 2U);
  const GpuFacts& facts = gpus->at(1);
  EXPECT_EQ(facts.name, "NVIDIA GeForce RTX 4090");
  EXPECT_THAT(facts.uuid, ::testing::StartsWith("GPU-"));
  EXPECT_EQ(facts.pci_bus_id, "0000:02:00.0");
  EXPECT_EQ(facts.driver_version, "570.86.15");
  EXPECT_EQ(facts.cuda_version, 12080);
  EXPECT_EQ(facts.memory_total_bytes, 24ULL << 30);
  EXPECT_EQ(facts.power_limit_w, 450.0);
  EXPECT_EQ(facts.pcie_generation, 1U);
  EXPECT_EQ(facts.pcie_width, 16U);
  EXPECT_EQ(facts.pcie_generation_max, 4U);
  EXPECT_EQ(facts.pcie_width_max, 16U);
  EXPECT_EQ(in_words(facts.missing), "");
}

TEST_F(GpuMonitorTest, TellsHowTwoGpusAreConnected) {
  set("gpus = 2\ncommon_ancestor = 50 10 !3\npeer_reads = 4 0 !3\npeer_nvlink = 5 0 !3\n");
  const auto opened = monitor();
  const auto gpus = opened->gpus();
  ASSERT_TRUE(gpus.ok()) << gpus.status().message();
  const auto link = [&] { return opened->link(gpus->at(0).gpu, gpus->at(1).gpu); };
  const GpuLink far = link();
  EXPECT_EQ(far.way, "through the link between two processors");
  EXPECT_EQ(far.reads_peer, false);
  EXPECT_EQ(far.has_nvlink, false);
  const GpuLink near = link();
  EXPECT_EQ(near.way, "through one PCIe switch");
  EXPECT_EQ(near.reads_peer, true);
  EXPECT_EQ(near.has_nvlink, true);
  const GpuLink untold = link();
  EXPECT_EQ(untold.way, "");
  EXPECT_EQ(untold.reads_peer, std::nullopt);
  EXPECT_EQ(untold.has_nvlink, std::nullopt);
}

TEST_F(GpuMonitorTest, ReadsAllValues) {
  set("gpus = 1\nreasons = 5\n");
  const GpuReading found = reading();
  EXPECT_EQ(found.utilization, 50U);
  EXPECT_EQ(found.memory_utilization, 20U);
  EXPECT_EQ(found.memory_used_bytes, 1ULL << 30);
  EXPECT_EQ(found.memory_free_bytes, 23ULL << 30);
  EXPECT_EQ(found.pcie_received_bytes_per_s, 1024U * 1024U);
  EXPECT_EQ(found.pcie_sent_bytes_per_s, 512U * 1024U);
  EXPECT_EQ(found.sm_clock_mhz, 2520U);
  EXPECT_EQ(found.memory_clock_mhz, 10501U);
  EXPECT_DOUBLE_EQ(*found.power_w, 123.456);
  EXPECT_EQ(found.temperature_c, 60U);
  // An idle GPU (bit 0) is not slowed down.
  EXPECT_THAT(*found.throttle_reasons, ElementsAre("power limit"));
  EXPECT_EQ(in_words(found.missing), "");
}

TEST_F(GpuMonitorTest, DoesNotAskForThroughputUnasked) {
  set("gpus = 1\npcie_received = !999\n");
  const auto opened = monitor();
  const GpuReading found = opened->read(*opened->find("0000:01:00.0"), PcieReading::kNone);
  EXPECT_FALSE(found.pcie_received_bytes_per_s);
  EXPECT_EQ(in_words(found.missing), "");
}

TEST_F(GpuMonitorTest, FindsGpusByTheirPlaceAsCudaWritesIt) {
  set("gpus = 12\n11.utilization = 77\n");
  const auto opened = monitor();
  EXPECT_EQ(opened->read(*opened->find("0000:0c:00.0"), PcieReading::kNone).utilization, 77U);
  const auto none = opened->find("0000:0d:00.0");
  EXPECT_EQ(none.status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(none.status().message(), "NVML knows no GPU at the PCI bus id 0000:0d:00.0");
}

TEST_F(GpuMonitorTest, ValuesAreAbsentWithAReason) {
  set("gpus = 1\nutilization = !3\npcie_received = !4\npcie_sent = !4\npower = !3\n");
  const GpuReading found = reading();
  EXPECT_FALSE(found.utilization || found.pcie_sent_bytes_per_s || found.power_w);
  EXPECT_TRUE(found.memory_used_bytes && found.temperature_c);
  EXPECT_EQ(in_words(found.missing),
            "utilization, power: the GPU does not tell; "
            "PCIe throughput: this user has no permission to ask");
}

TEST_F(GpuMonitorTest, UnknownFailuresAreToldInNvmlsWords) {
  set("gpus = 1\ntemperature = !999\n");
  EXPECT_EQ(in_words(reading().missing), "temperature: NVML says Unknown Error (error 999)");
}

TEST_F(GpuMonitorTest, ALostGpuStaysInTheList) {
  set("gpus = 2\n0.handle = !15\n");
  const auto gpus = monitor()->gpus();
  ASSERT_TRUE(gpus.ok());
  ASSERT_EQ(gpus->size(), 2U);
  EXPECT_EQ(gpus->at(0).gpu, nullptr);
  EXPECT_THAT(in_words(gpus->at(0).missing), HasSubstr("all: the GPU is lost"));
  EXPECT_EQ(gpus->at(1).name, "NVIDIA Test GPU");
  const auto found = monitor()->find("0000:01:00.0");
  EXPECT_EQ(found.status().code(), StatusCode::kResource);
  EXPECT_THAT(found.status().message(),
              HasSubstr("finding the GPU at 0000:01:00.0: the GPU is lost"));
}

TEST_F(GpuMonitorTest, NoGpuIsNoFailure) {
  set("");
  EXPECT_TRUE(monitor()->gpus()->empty());
}

TEST_F(GpuMonitorTest, SaysWhyNvmlDoesNotStart) {
  const auto why = [&](const std::string& line) {
    set(line);
    const auto opened = GpuMonitor::open();
    EXPECT_EQ(opened.status().code(), StatusCode::kUnsupported);
    return opened.status().message();
  };
  EXPECT_EQ(why("init = !9"), "starting NVML: the NVIDIA driver is not loaded");
  EXPECT_EQ(why("init = !4"), "starting NVML: this user has no permission to ask");
  EXPECT_THAT(why("init = !18"), HasSubstr("of different versions: restart the machine"));
}

TEST_F(GpuMonitorTest, SaysThatThereIsNoLibrary) {
  const auto opened = GpuMonitor::open("libnvidia-ml-of-nobody.so.1");
  EXPECT_EQ(opened.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(opened.status().message(),
              ::testing::StartsWith("this machine has no NVIDIA management library ("));
}

TEST_F(GpuMonitorTest, AnOldLibraryLacksSomeValues) {
  set("gpus = 1\nreasons = 4\n");
  const auto opened = GpuMonitor::open(XTTS_OLD_NVML);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const GpuReading found =
      (*opened)->read(*(*opened)->find("0000:01:00.0"), PcieReading::kThroughput);
  EXPECT_EQ(in_words(found.missing), "PCIe throughput: the NVIDIA driver is too old");
  // It has the throttle reasons under their former name.
  EXPECT_THAT(*found.throttle_reasons, ElementsAre("power limit"));
}

TEST_F(GpuMonitorTest, ALibraryWithoutANeededCallIsTooOld) {
  const auto opened = GpuMonitor::open(XTTS_OLDER_NVML);
  EXPECT_EQ(opened.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(opened.status().message(),
              HasSubstr("too old: its management library lacks nvmlDeviceGetHandleByPciBusId_v2"));
}

TEST_F(GpuMonitorTest, AForkedChildIsRefused) {
  set("gpus = 1\n");
  const auto opened = monitor();
  const Gpu gpu = *opened->find("0000:01:00.0");
  EXPECT_EQ(in_child([&] {
              if (GpuMonitor::open().status().code() != StatusCode::kUnsupported) return 1;
              if (opened->gpus().ok() || opened->find("0000:01:00.0").ok()) return 2;
              const GpuReading found = opened->read(gpu, PcieReading::kThroughput);
              return !found.utilization && found.missing.size() == 1 ? 0 : 3;
            }),
            0);
}

TEST_F(GpuSamplerTest, SumsUpUtilizationThatSwings) {
  set("gpus = 1\nutilization = 2 40\npower = 100000 300000\nreasons = 4 0 1\n");
  const auto opened = sampler();
  const GpuUse use = sampled(*opened, 20);
  EXPECT_GE(use.sample_count, 20U);
  EXPECT_GT(use.seconds, 0.0);
  EXPECT_EQ(use.name, "NVIDIA Test GPU");
  EXPECT_EQ(use.pci_bus_id, "0000:01:00.0");
  ASSERT_TRUE(use.utilization);
  EXPECT_NEAR(use.utilization->mean, 21.0, 1.0);
  EXPECT_NEAR(use.utilization->std, 19.0, 0.1);
  EXPECT_EQ(use.utilization->min, 2.0);
  EXPECT_EQ(use.utilization->max, 40.0);
  EXPECT_EQ(use.utilization_p5, 2.0);
  EXPECT_EQ(use.utilization_p95, 40.0);
  EXPECT_NEAR(use.power_w->mean, 200.0, 10.0);
  EXPECT_EQ(use.pcie_received_bytes_per_s->mean, 1024.0 * 1024.0);
  EXPECT_EQ(use.memory_used_bytes->std, 0.0);
  EXPECT_EQ(use.memory_total_bytes, 24ULL << 30);
  EXPECT_THAT(use.throttle_reasons, ElementsAre("power limit"));
  EXPECT_EQ(use.missing, "");
}

TEST_F(GpuSamplerTest, QuantilesCountSamples) {
  GpuTally tally;
  for (std::uint32_t percent = 1; percent <= 100; ++percent) {
    GpuReading one;
    one.utilization = percent;
    tally.add(one);
  }
  EXPECT_EQ(tally.use().utilization_p5, 5.0);
  EXPECT_EQ(tally.use().utilization_p50, 50.0);
  EXPECT_EQ(tally.use().utilization_p95, 95.0);
  GpuReading above;
  above.utilization = 4'000'000'000;  // no percentage, which a broken library might give
  tally.add(above);
  EXPECT_EQ(tally.use().utilization->max, 100.0);
}

TEST_F(GpuSamplerTest, TakesALastSampleWhenItStops) {
  set("gpus = 1\n");
  auto opened = GpuSampler::open("0000:01:00.0", {.interval = 1h, .reads_pcie = false});
  ASSERT_TRUE(opened.ok());
  ASSERT_TRUE((*opened)->start().ok());
  (*opened)->stop();
  EXPECT_EQ((*opened)->use().sample_count, 1U);
  EXPECT_FALSE((*opened)->use().pcie_received_bytes_per_s);
  EXPECT_EQ((*opened)->use().missing, "");
}

TEST_F(GpuSamplerTest, AddsToEarlierSamples) {
  set("gpus = 1\n");
  const auto opened = sampler();
  const std::uint64_t count = sampled(*opened, 2).sample_count;
  EXPECT_TRUE(opened->start().ok());
  EXPECT_TRUE(opened->start().ok());  // is running already
  opened->stop();
  opened->stop();
  EXPECT_GT(opened->use().sample_count, count);
}

TEST_F(GpuSamplerTest, ALinkThatWakesUpIsToldAsItWas) {
  set("gpus = 1\npcie_generation = 1 4 1\n");
  const auto opened = sampler();
  EXPECT_EQ(sampled(*opened, 1).pcie_generation, 4U);
}

TEST_F(GpuSamplerTest, GoesOnWhereTheGpuIsLost) {
  set("gpus = 1\nutilization = 50 !15\nmemory_used = !15\n");
  const auto opened = sampler();
  const GpuUse use = sampled(*opened, 4);
  EXPECT_EQ(use.utilization->mean, 50.0);
  EXPECT_FALSE(use.memory_used_bytes);
  EXPECT_EQ(use.missing,
            "memory, utilization: the GPU is lost: it has fallen off the bus. Restart the machine");
}

TEST_F(GpuSamplerTest, RefusesAnIntervalThatIsNone) {
  set("gpus = 1\n");
  for (const auto interval : {0ms, -5ms, 3'600'001ms}) {
    const auto opened = GpuSampler::open("0000:01:00.0", {.interval = interval});
    EXPECT_EQ(opened.status().code(), StatusCode::kInvalidArgument);
  }
}

// The parent's thread may hold every lock when the process forks.
TEST_F(GpuSamplerTest, AForkedChildDoesNotHang) {
  set("gpus = 1\n");
  const auto opened = sampler();
  ASSERT_TRUE(opened->start().ok());
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(in_child([&] {
                auto child = std::unique_ptr<GpuSampler>(opened.get());
                if (child->start().ok()) return 1;
                child->stop();
                if (child->use().missing.empty() || child->use().sample_count != 0) return 2;
                child.reset();
                return 0;
              }),
              0);
  }
  opened->stop();
  EXPECT_GT(opened->use().sample_count, 0U);
}

}  // namespace
}  // namespace xtts::device
