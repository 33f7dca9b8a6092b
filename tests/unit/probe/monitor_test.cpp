#include "probe/monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_folder.hpp"

namespace xtts::probe {
namespace {

TEST(ParseStat, CountsAWaitingProcessorAsIdle) {
  SystemCounters counters;
  parse_stat("cpu  10 0 20 60 10 0 0 0 0 0\ncpu0 5 0 10 30 5 0 0 0 0 0\nintr 7\n", counters);
  EXPECT_EQ(counters.all.busy, 30U);
  EXPECT_EQ(counters.all.total, 100U);
  ASSERT_EQ(counters.cores.size(), 1U);
  EXPECT_EQ(counters.cores[0].total, 50U);
}

TEST(BusyShare, IsTheShareBetweenTwoMoments) {
  EXPECT_DOUBLE_EQ(busy_share({100, 1000}, {150, 1100}), 0.5);
  EXPECT_DOUBLE_EQ(busy_share({100, 1000}, {100, 1000}), 0.0);
  EXPECT_DOUBLE_EQ(busy_share({100, 1000}, {50, 900}), 0.0);  // the counters began anew
}

TEST(ParseDiskstats, FindsTheDeviceByItsWholeName) {
  const std::string text =
      "   8       0 sda 100 0 2048 50 0 0 0 0 0 40 90\n   8       1 sda1 1 0 8 1 0 0 0 0 0 1 1\n";
  const auto disk = parse_diskstats(text, "sda");
  ASSERT_TRUE(disk);
  EXPECT_EQ(disk->read_bytes, 2048U * 512U);
  EXPECT_EQ(disk->busy_ms, 40U);
  EXPECT_FALSE(parse_diskstats(text, "sd"));
  EXPECT_FALSE(parse_diskstats(text, ""));
  EXPECT_FALSE(parse_diskstats("8 0 sda 1 2", "sda"));
}

class MonitorReaders : public ::testing::Test {
 protected:
  void write(double seconds_ago, int batches, double waited_s) {
    const double at_s = std::chrono::duration<double>(Env::real().now()).count() - seconds_ago;
    std::ofstream(folder_.path() + "/reader-7-0.json")
        << "{\"format\": 1, \"at_s\": " << std::fixed << at_s << ", \"batches\": " << batches
        << ", \"samples\": " << 32 * batches << ", \"consumer_wait_s\": " << waited_s << "}";
  }
  std::unique_ptr<Monitor> open() {
    MonitorOptions options;
    options.readers = folder_.path();
    return std::move(*Monitor::open(Env::real(), options));
  }

  testing::TempFolder folder_;
};

TEST_F(MonitorReaders, TellTheirRatesAndWaits) {
  write(4.0, 10, 1.0);
  const auto monitor = open();
  write(2.0, 30, 1.5);
  const MonitorSample sample = monitor->sample();
  ASSERT_EQ(sample.readers.size(), 1U);
  EXPECT_EQ(sample.readers[0].name, "reader-7-0");
  EXPECT_NEAR(sample.readers[0].batches_per_s.value(), 10.0, 0.5);
  EXPECT_NEAR(sample.readers[0].samples_per_s.value(), 320.0, 16.0);
  EXPECT_NEAR(sample.readers[0].wait_share.value(), 0.25, 0.02);
  EXPECT_FALSE(monitor->sample().readers[0].wait_share);  // the file has not changed
}

TEST_F(MonitorReaders, AKilledReadersFileIsIgnored) {
  write(500.0, 10, 1.0);
  EXPECT_TRUE(open()->sample().readers.empty());
}

TEST_F(MonitorReaders, OtherFilesAreIgnored) {
  std::ofstream(folder_.path() + "/a.json") << "rubbish";
  std::ofstream(folder_.path() + "/b.json") << "[1, 2]";
  std::ofstream(folder_.path() + "/c.txt") << "{}";
  EXPECT_TRUE(open()->sample().readers.empty());
}

TEST(Monitor, RefusesACacheThatIsNone) {
  const testing::TempFolder folder;
  MonitorOptions options;
  options.cache = folder.path();
  EXPECT_FALSE(Monitor::open(Env::real(), options).ok());
}

TEST(Monitor, RefusesFoldersThatAreNotThere) {
  MonitorOptions options;
  options.folder = "/no/such/folder";
  EXPECT_EQ(Monitor::open(Env::real(), options).status().code(), StatusCode::kNotFound);
  options = {};
  options.readers = "/no/such/folder";
  EXPECT_EQ(Monitor::open(Env::real(), options).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace xtts::probe
