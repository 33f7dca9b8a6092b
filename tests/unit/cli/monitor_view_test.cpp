#include "cli/monitor_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace xtts::cli {
namespace {

using probe::MonitorSample;
using ::testing::HasSubstr;

// A GPU with these utilizations, one a second.
std::vector<MonitorSample> samples_of(const std::vector<double>& utilization) {
  std::vector<MonitorSample> samples;
  for (std::size_t i = 0; i < utilization.size(); ++i) {
    MonitorSample sample;
    sample.at_s = static_cast<double>(i);
    sample.gpus = {{.name = "a \"GPU\"",
                    .utilization = utilization[i],
                    .memory_used_bytes = 1000,
                    .power_w = {}}};
    samples.push_back(std::move(sample));
  }
  return samples;
}

// The users' first picture: between 2 and 40 %, here every 8 s.
TEST(JudgeSamples, FindsSwingsAndTheirPeriod) {
  std::vector<double> utilization;
  for (int i = 0; i < 80; ++i) utilization.push_back(i % 8 < 4 ? 2.0 : 40.0);
  const MonitorVerdict verdict = judge_samples(samples_of(utilization), "");
  EXPECT_EQ(verdict.level, "bad");
  EXPECT_THAT(verdict.text, HasSubstr("it swings"));
  ASSERT_TRUE(verdict.period_s);
  EXPECT_NEAR(*verdict.period_s, 8.0, 0.2);
}

// The second picture: steadily at 12 %.
TEST(JudgeSamples, ALowAndSteadyGpuIsNotCalledStarved) {
  const MonitorVerdict verdict = judge_samples(samples_of(std::vector<double>(60, 12.0)), "");
  EXPECT_THAT(verdict.text, HasSubstr("low and steady"));
  EXPECT_FALSE(verdict.period_s);
}

TEST(JudgeSamples, ABusyGpuIsGood) {
  EXPECT_EQ(judge_samples(samples_of(std::vector<double>(60, 85.0)), "").level, "good");
}

TEST(JudgeSamples, WithoutAGpuItSaysWhy) {
  const MonitorVerdict verdict = judge_samples({MonitorSample{}}, "no driver");
  EXPECT_THAT(verdict.text, HasSubstr("no driver"));
  EXPECT_FALSE(verdict.mean);
}

TEST(JudgeSamples, FewSamplesGiveNoVerdictOnSwings) {
  EXPECT_THAT(judge_samples(samples_of({2, 40, 2, 40}), "").text, HasSubstr("watch it longer"));
}

TEST(MonitorCsv, HasAsManyCellsAsColumns) {
  const MonitorSample sample = samples_of({50}).front();
  const auto commas = [](const std::string& line) { return std::ranges::count(line, ','); };
  EXPECT_EQ(commas(monitor_csv_header(sample)), commas(monitor_csv_line(sample, sample)));
  // A GPU that has gone leaves its cells empty.
  EXPECT_EQ(commas(monitor_csv_header(sample)), commas(monitor_csv_line({}, sample)));
}

TEST(MonitorPrometheus, EachMetricHasItsTypeAndLabelsAreClean) {
  const std::string text = monitor_to_prometheus(samples_of({50}).front());
  EXPECT_THAT(text, HasSubstr("# TYPE xtts_gpu_utilization_ratio gauge\n"
                              "xtts_gpu_utilization_ratio{gpu=\"0\",name=\"a GPU\"} 0.5\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("disk_busy")));
}

}  // namespace
}  // namespace xtts::cli
