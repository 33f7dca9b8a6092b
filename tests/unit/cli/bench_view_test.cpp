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
BenchRun uneven_run(std::uint32_t batch_size = 32) {
  loader::MeasuredPass pass;
  for (int i = 0; i < 40; ++i) pass.batch_ms.push_back(i % 4 == 0 ? 2000.0 : 1.0);
  pass.sample_count = 1280;
  pass.seconds = 20.0;
  return {.batch_size = batch_size,
          .thread_count = 1,
          .measured = {.first = pass, .again = pass, .storage = "", .reading = "", .notice = ""}};
}

TEST(BenchAdvice, OfAColdDiskNamesOnlyWhatIsNotSoYet) {
  const std::string all =
      describe_bench({.cache = "my cache", .shuffle = "global", .is_cold = true}, {uneven_run()});
  EXPECT_THAT(all, HasSubstr("--shuffle window reads it in long runs"));
  EXPECT_THAT(all, HasSubstr("`xtts-precompute convert 'my cache' NEW --layout packed --dtype "
                             "float16` makes"));
  const std::string ordered = describe_bench(
      {.cache = "c", .shuffle = "window", .is_cold = true, .is_packed = true}, {uneven_run()});
  EXPECT_THAT(ordered, Not(HasSubstr("--shuffle")));
  EXPECT_THAT(ordered, HasSubstr("convert c NEW --dtype float16'"));
  const std::string none = describe_bench(
      {.cache = "c", .shuffle = "window", .is_cold = true, .is_packed = true, .is_half = true},
      {uneven_run()});
  EXPECT_THAT(none, Not(HasSubstr("convert")));
  EXPECT_THAT(none, HasSubstr("the cache is as small as it can be"));
}

TEST(BenchAdvice, OfTooFewBatchesGivesNoPercentiles) {
  BenchRun run = uneven_run();
  run.measured.again.batch_ms.clear();
  const std::string one = describe_bench({.cache = "c", .shuffle = "global"}, {run});
  EXPECT_THAT(one, HasSubstr(", 1 batch\n"));
  EXPECT_THAT(one, HasSubstr("no time of a batch, which lies between two: there was one"));
  EXPECT_THAT(one, HasSubstr("One batch tells no pace"));
  EXPECT_THAT(one, Not(HasSubstr("p50")));
  run.measured.again.batch_ms = {2.0, 3.0};
  const std::string three = describe_bench({.cache = "c", .shuffle = "global"}, {run});
  EXPECT_THAT(three, HasSubstr(", 3 batches\n"));
  EXPECT_THAT(three, HasSubstr("2.00, 3.00 ms a batch: too few times for a verdict"));
}

TEST(BenchAdvice, OfASweepIsNoSweep) {
  const BenchQuestion question{.cache = "c", .shuffle = "global"};
  EXPECT_THAT(describe_bench(question, {uneven_run()}), HasSubstr("or --sweep"));
  EXPECT_THAT(describe_bench(question, {uneven_run(), uneven_run(64)}), Not(HasSubstr("--sweep")));
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
  EXPECT_THAT(describe_bench(question, {run}),
              HasSubstr("\n  GPU NVIDIA GeForce RTX 4090: busy 21 ± 19 % of the time"));
  const nlohmann::json document = bench_to_json(question, {run});
  EXPECT_EQ(document["gpu"]["utilization"]["mean"], 21.0);
  EXPECT_EQ(document["gpu"]["utilization"]["p95"], 40.0);
  EXPECT_EQ(document["gpu"]["power_w"], nullptr);
  EXPECT_EQ(document["gpu_missing"], "");
}

TEST(BenchOnAGpu, SaysWhyTheGpuWasNotWatched) {
  BenchRun run = uneven_run();
  run.measured.again.gpu = GpuUse{.missing = "no library"};
  const BenchQuestion question{.cache = "c", .shuffle = "global"};
  EXPECT_THAT(describe_bench(question, {run}),
              HasSubstr("\n  the GPU was not watched: no library\n"));
  const nlohmann::json document = bench_to_json(question, {run});
  EXPECT_TRUE(document["gpu"].is_null());
  EXPECT_EQ(document["gpu_missing"], "no library");
}

TEST(BenchOnAGpu, IsSilentOfGpusOnACpu) {
  const BenchQuestion question{.cache = "c", .shuffle = "global"};
  EXPECT_THAT(describe_bench(question, {uneven_run()}), Not(HasSubstr("GPU")));
  EXPECT_FALSE(bench_to_json(question, {uneven_run()}).contains("gpu"));
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
