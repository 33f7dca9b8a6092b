// Advice of `bench`: nothing that the question or the cache has already.
#include "cli/bench_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "cli/gpu_view.hpp"

namespace xtts::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Batches of 1 ms and of 2 s in turn: no training step hides those.
BenchRun uneven_run() {
  loader::MeasuredPass pass;
  for (int i = 0; i < 40; ++i) pass.batch_ms.push_back(i % 4 == 0 ? 2000.0 : 1.0);
  pass.sample_count = 1280;
  pass.seconds = 20.0;
  return {.batch_size = 32,
          .thread_count = 1,
          .measured = {.first = pass, .again = pass, .storage = "", .reading = "", .notice = ""}};
}

TEST(BenchAdvice, OfAColdDiskNamesOnlyWhatIsNotSoYet) {
  const std::string all =
      bench_advice({.cache = "my cache", .shuffle = "global", .is_cold = true}, uneven_run());
  EXPECT_THAT(all, HasSubstr("--shuffle window reads it in long runs"));
  EXPECT_THAT(all, HasSubstr("`xtts-precompute convert 'my cache' NEW --layout packed --dtype "
                             "float16` makes"));
  const std::string ordered = bench_advice(
      {.cache = "c", .shuffle = "window", .is_cold = true, .is_packed = true}, uneven_run());
  EXPECT_THAT(ordered, Not(HasSubstr("--shuffle")));
  EXPECT_THAT(ordered, HasSubstr("convert c NEW --dtype float16'"));
  const std::string none = bench_advice(
      {.cache = "c", .shuffle = "window", .is_cold = true, .is_packed = true, .is_half = true},
      uneven_run());
  EXPECT_THAT(none, Not(HasSubstr("convert")));
  EXPECT_THAT(none, HasSubstr("the cache is as small as it can be"));
}

TEST(BenchAdvice, OfTooFewBatchesGivesNoPercentiles) {
  BenchRun run = uneven_run();
  run.measured.again.batch_ms.clear();
  const std::string one = describe_bench({.cache = "c", .shuffle = "global"}, run);
  EXPECT_THAT(one, HasSubstr(", 1 batch\n"));
  EXPECT_THAT(one, HasSubstr("no time of a batch, which lies between two: there was one"));
  EXPECT_THAT(bench_advice({.cache = "c", .shuffle = "global"}, run),
              HasSubstr("One batch tells no pace"));
  EXPECT_THAT(one, Not(HasSubstr("p50")));
  run.measured.again.batch_ms = {2.0, 3.0};
  const std::string three = describe_bench({.cache = "c", .shuffle = "global"}, run);
  EXPECT_THAT(three, HasSubstr(", 3 batches\n"));
  EXPECT_THAT(three, HasSubstr("2.00, 3.00 ms a batch: too few times for a verdict"));
}

BenchSweep sweep_of_two(double low, double high) {
  const auto row = [](std::uint32_t threads, double from, double to) {
    return SweepRun{.setting = {32, threads, 4},
                    .pass = uneven_run().measured.again,
                    .batch_ms = {from, (from + to) / 2.0, to}};
  };
  BenchSweep sweep{.runs = {row(1, low, high), row(2, 1.0, 2.0)}, .round_count = 5};
  sweep.choice = {.index = 0, .equal_count = 2};
  sweep.left_out = {"4 threads, because the machine has 2 processors"};
  return sweep;
}

TEST(BenchAdvice, OfASweepIsNoSweep) {
  const BenchQuestion question{.cache = "c", .shuffle = "global"};
  EXPECT_THAT(bench_advice(question, uneven_run()), HasSubstr("or --sweep"));
  EXPECT_THAT(bench_advice(question, uneven_run(), sweep_of_two(1.5, 3.0)),
              Not(HasSubstr("--sweep")));
}

TEST(BenchAdvice, OfASweepHasARangeAndWhatWasLeftOut) {
  const BenchQuestion question{.cache = "c", .shuffle = "global"};
  const BenchSweep sweep = sweep_of_two(1.5, 3.0);
  const std::string text = describe_bench(question, uneven_run(), sweep);
  EXPECT_THAT(text, HasSubstr("left out: 4 threads, because the machine has 2 processors\n"));
  EXPECT_THAT(text, HasSubstr("32 clips a batch, 1 thread, prefetch 4: 2.25 ms a batch (1.50 to "
                              "3.00).\nThe time is the median of 5 rounds."));
  EXPECT_THAT(text, HasSubstr("holds the true median in 94 % of cases."));
  EXPECT_THAT(text, HasSubstr("No difference that can be measured lies between 2 settings"));
  const nlohmann::json document = bench_to_json(question, uneven_run(), sweep);
  EXPECT_EQ(document["recommended"]["threads"], 1);
  EXPECT_EQ(document["recommended"]["ms"]["high"], 3.0);
  EXPECT_EQ(document["recommended"]["equal_settings"], 2);
  EXPECT_EQ(document["runs"].size(), 2U);
  EXPECT_EQ(bench_to_json(question, uneven_run())["recommended"], nullptr);
}

TEST(PlanSweep, LeavesOutWhatTheMachineCannotRun) {
  const SweepPlan large = plan_sweep(
      {.core_count = 64, .memory_available_bytes = 1ULL << 40U, .record_bytes = 256 * 1024});
  EXPECT_EQ(large.settings.size(), 4U * 5U * 3U);
  EXPECT_TRUE(large.left_out.empty());
  // Half of 256 MiB is free: 16 batches of 64 take 256 MiB, 16 of 32 take 128 MiB.
  const SweepPlan small = plan_sweep(
      {.core_count = 2, .memory_available_bytes = 256 << 20U, .record_bytes = 256 * 1024});
  EXPECT_EQ(small.settings.size(), 11U * 2U);
  ASSERT_EQ(small.left_out.size(), 2U);
  EXPECT_EQ(small.left_out[0], "4, 8 and 16 threads, because the machine has 2 processors");
  EXPECT_EQ(small.left_out[1],
            "16 batches of 64 ahead, because they take 256 MiB of 256 MiB of free memory");
}

TEST(ChooseSetting, TakesTheCheapestThatCannotBeToldFromTheFastest) {
  const std::vector<SweepSetting> settings = {{32, 1, 4}, {32, 2, 4}, {32, 4, 16}, {32, 2, 8}};
  const SweepChoice choice = choose_setting(
      settings, {{2.1, 2.4, 3.0}, {1.9, 2.1, 2.3}, {1.8, 1.9, 2.0}, {1.9, 2.0, 2.3}});
  EXPECT_EQ(choice.index, 1U);
  EXPECT_EQ(choice.equal_count, 3U);
  const SweepChoice clear = choose_setting({{32, 1, 4}, {32, 2, 4}}, {{2, 3, 4}, {1, 1.1, 1.2}});
  EXPECT_EQ(clear.index, 1U);
  EXPECT_EQ(clear.equal_count, 1U);
}

TEST(TimesOfRounds, AreTheMedianAndTheRange) {
  const SweepTimes times = times_of_rounds({5.0, 1.0, 3.0, 2.0, 4.0});
  EXPECT_EQ(times.low, 1.0);
  EXPECT_EQ(times.middle, 3.0);
  EXPECT_EQ(times.high, 5.0);
  EXPECT_NEAR(certainty_of_range(5), 0.9375, 1e-12);
}

GpuUse swinging_gpu() {
  GpuUse use{.sample_count = 50, .seconds = 5.0, .name = "NVIDIA GeForce RTX 4090"};
  use.utilization = {.mean = 21.0, .std = 19.0, .min = 2.0, .max = 40.0};
  use.utilization_p95 = 40.0;
  return use;
}

TEST(BenchOnAGpu, SaysWhatTheGpuDid) {
  BenchRun run = uneven_run();
  run.measured.again.gpu = swinging_gpu();
  const BenchQuestion question{.cache = "c", .shuffle = "global"};
  EXPECT_THAT(describe_bench(question, run),
              HasSubstr("\n  GPU NVIDIA GeForce RTX 4090: busy 21 ± 19 % of the time"));
  const nlohmann::json document = bench_to_json(question, run);
  EXPECT_EQ(document["gpu"]["utilization"]["mean"], 21.0);
  EXPECT_EQ(document["gpu"]["utilization"]["p95"], 40.0);
  EXPECT_EQ(document["gpu"]["power_w"], nullptr);
  EXPECT_EQ(document["gpu_missing"], "");
}

TEST(BenchOnAGpu, SaysWhyTheGpuWasNotWatched) {
  BenchRun run = uneven_run();
  run.measured.again.gpu = GpuUse{.missing = "no library"};
  const BenchQuestion question{.cache = "c", .shuffle = "global"};
  EXPECT_THAT(describe_bench(question, run),
              HasSubstr("\n  the GPU was not watched: no library\n"));
  const nlohmann::json document = bench_to_json(question, run);
  EXPECT_TRUE(document["gpu"].is_null());
  EXPECT_EQ(document["gpu_missing"], "no library");
}

TEST(BenchOnAGpu, IsSilentOfGpusOnACpu) {
  const BenchQuestion question{.cache = "c", .shuffle = "global"};
  EXPECT_THAT(describe_bench(question, uneven_run()), Not(HasSubstr("GPU")));
  EXPECT_FALSE(bench_to_json(question, uneven_run()).contains("gpu"));
}

TEST(BenchOnAGpu, HasTheKeysOfTheSchema) {
  std::ifstream file(std::string(XTTS_SOURCE_DIR) + "/tests/cli/schemas/gpu.json");
  const nlohmann::json schema = nlohmann::json::parse(file);
  const auto keys = [](const nlohmann::json& of) {
    std::set<std::string> found;
    for (const auto& [key, value] : of.items()) found.insert(key);
    return found;
  };
  const nlohmann::json gpu = gpu_to_json(swinging_gpu());
  EXPECT_EQ(keys(gpu), keys(schema["properties"]));
  EXPECT_EQ(keys(gpu), schema["required"].get<std::set<std::string>>());
  EXPECT_EQ(keys(gpu["utilization"]), keys(schema["properties"]["utilization"]["properties"]));
}

}  // namespace
}  // namespace xtts::cli
