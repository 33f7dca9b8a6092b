// Builds with --device, over the adversarial driver and cuFFT's double.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "build_support.hpp"
#include "dsp_cuda/cuda_frame_engine.hpp"
#include "request/build_json.hpp"
#include "request/build_options.hpp"
#include "support/cufft/fake_cufft.hpp"
#include "unit/dsp_cuda/fake_gpu.hpp"

namespace xtts::testing {
namespace {

using ::testing::HasSubstr;

constexpr double kLargestDifference = 1e-5;

pipeline::BuildRequest request_on(const std::string& device, const std::string& cache = kCache) {
  auto request = request::request_of(Env::real(),
                                     {.data = kData,
                                      .cache = cache,
                                      .settings = {"max_frames=64", "storage.dtype=float32"},
                                      .device = device,
                                      .memory = "512M",
                                      .thread_count = 2},
                                     {.make_decoder = [] { return in_this_process(); }}, {});
  EXPECT_TRUE(request.ok()) << request.status().message();
  return *request;
}

fake_cuda::Options quick(std::uint64_t seed = 0) {
  return {.seed = seed, .latest = std::chrono::milliseconds(1)};
}

std::string device_of(MemoryEnv& env, const std::string& cache = kCache) {
  return open_cache(env, cache)->manifest().numerics.device;
}

// The largest difference of all mels of two caches of the same clips.
double difference_of_mels(MemoryEnv& env, const std::string& one, const std::string& other) {
  const auto a = open_cache(env, one);
  const auto b = open_cache(env, other);
  EXPECT_EQ(a->size(), b->size());
  double most = 0.0;
  for (std::uint64_t i = 0; i < a->size(); ++i) {
    const auto first = a->read_record("mel", i);
    const auto second = b->read_record("mel", i);
    EXPECT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->bytes.size(), second->bytes.size());
    for (std::size_t place = 0; place < first->bytes.size(); place += sizeof(float)) {
      float x = 0.0F;
      float y = 0.0F;
      std::memcpy(&x, first->bytes.data() + place, sizeof x);
      std::memcpy(&y, second->bytes.data() + place, sizeof y);
      most = std::max(most, std::abs(static_cast<double>(x) - static_cast<double>(y)));
    }
  }
  return most;
}

TEST(CudaBuild, ACacheHoldsTheCpusFeaturesAndNamesTheGpu) {
  const FakeGpu gpu(quick());
  MemoryEnv env;
  add_sounds(env, 12);
  must_build(env, request_on("cpu", "/on_cpu"));
  must_build(env, request_on("cuda", "/on_cuda"));
  EXPECT_EQ(device_of(env, "/on_cpu"), "cpu");
  EXPECT_THAT(device_of(env, "/on_cuda"), ::testing::MatchesRegex("cuda: .+, sm_90, cuFFT 12.0.0"));
  EXPECT_LE(difference_of_mels(env, "/on_cpu", "/on_cuda"), kLargestDifference);
  EXPECT_EQ(damage_in(env, "/on_cuda"), "");
}

TEST(CudaBuild, AllThreadsAndOrdersOfTheDriverMakeTheSameBytes) {
  Files expected;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const FakeGpu gpu(quick(seed));
    MemoryEnv env;
    add_sounds(env, 12);
    auto request = request_on("cuda");
    request.run.thread_count = static_cast<std::uint32_t>(1 + seed % 4);
    must_build(env, request);
    if (seed == 0) expected = published_files(env);
    ASSERT_EQ(difference(expected, published_files(env)), "");
  }
}

TEST(CudaBuild, ACacheGoesOnWhereItWasBegun) {
  const FakeGpu gpu(quick());
  MemoryEnv env;
  add_sounds(env, 4);
  must_build(env, request_on("cuda"));
  const std::string device = device_of(env);
  add_sounds(env, 8);
  const auto on_cpu = run_build(env, request_on("cpu"));
  EXPECT_EQ(on_cpu.status().code(), StatusCode::kMismatch);
  EXPECT_THAT(on_cpu.status().message(), HasSubstr(device));
  EXPECT_EQ(must_build(env, request_on("auto")).computed_count, 4U);
  EXPECT_EQ(device_of(env), device);
}

TEST(CudaBuild, AutoTakesTheCpuForANewCacheAndForOneOfTheCpu) {
  const FakeGpu gpu(quick());
  MemoryEnv env;
  add_sounds(env, 4);
  must_build(env, request_on("auto"));
  EXPECT_EQ(device_of(env), "cpu");
  add_sounds(env, 8);
  must_build(env, request_on("auto"));
  EXPECT_EQ(run_build(env, request_on("cuda")).status().code(), StatusCode::kOk);  // nothing to do
  add_sounds(env, 10);
  EXPECT_EQ(run_build(env, request_on("cuda")).status().code(), StatusCode::kMismatch);
}

TEST(CudaBuild, AnotherGpuIsRefused) {
  MemoryEnv env;
  add_sounds(env, 4);
  {
    const FakeGpu gpu(quick());
    must_build(env, request_on("cuda"));
  }
  add_sounds(env, 8);
  fake_cuda::Options other = quick();
  other.compute_major = 8;
  const FakeGpu gpu(other);
  for (const char* const device : {"cuda", "auto"}) {
    const auto built = run_build(env, request_on(device));
    EXPECT_EQ(built.status().code(), StatusCode::kMismatch);
    EXPECT_THAT(built.status().message(), HasSubstr("sm_90"));
  }
}

TEST(CudaBuild, AFailureOfTheGpuEndsTheBuildAndTheNextOneGoesOn) {
  MemoryEnv env;
  add_sounds(env, 24);
  auto request = request_on("cuda");
  request.recipe = recipe_of_small_shards({"max_frames=64"});
  {
    fake_cuda::Options options = quick();
    options.failing_calls = {{.name = "cuEventRecord", .nth = 15, .code = cuda::kOutOfMemory}};
    const FakeGpu gpu(options);
    const auto built = run_build(env, request);
    EXPECT_EQ(built.status().code(), StatusCode::kResource);
    EXPECT_THAT(built.status().message(), HasSubstr("cuda:0"));
  }
  const FakeGpu gpu(quick());
  must_build(env, request);
  EXPECT_EQ(open_cache(env)->size(), 24U);
  EXPECT_EQ(damage_in(env), "");
}

TEST(CudaBuild, ACallThatCufftRefusesEndsTheBuild) {
  MemoryEnv env;
  add_sounds(env, 4);
  const FakeGpu gpu(quick());
  fake_cufft::fail("cufftPlanMany", 1, 2);
  const auto built = run_build(env, request_on("cuda"));
  EXPECT_EQ(built.status().code(), StatusCode::kResource);
  EXPECT_THAT(built.status().message(), HasSubstr("cuFFT says CUFFT_ALLOC_FAILED"));
}

// The clock of a MemoryEnv stands, so the share itself is looked at in the real program.
TEST(CudaBuild, ADryRunOnTheCpuHasNothingToSave) {
  const FakeGpu gpu(quick());
  MemoryEnv env;
  add_sounds(env, 4);
  auto request = request_on("cpu");
  request.options.dry_run = true;
  TestObserver observer;
  observer.has_estimate = true;
  ASSERT_TRUE(pipeline::build(env, request, observer).ok());
  EXPECT_FALSE(observer.preview()->most_saved_share.has_value());
  EXPECT_TRUE(request::preview_to_json(request, *observer.preview())["most_saved_share"].is_null());
}

TEST(CudaBuild, DevicesThatAreNoneAreRefused) {
  for (const char* const device : {"gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", ""}) {
    const auto request =
        request::request_of(Env::real(), {.data = kData, .cache = kCache, .device = device},
                            {.make_decoder = [] { return in_this_process(); }}, {});
    EXPECT_EQ(request.status().code(), StatusCode::kInvalidArgument) << device;
    EXPECT_THAT(request.status().message(), HasSubstr("auto, cpu, cuda"));
  }
  const FakeGpu gpu(quick());
  MemoryEnv env;
  add_sounds(env, 2);
  const auto built = run_build(env, request_on("cuda:7"));
  EXPECT_EQ(built.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(built.status().message(), HasSubstr("no GPU cuda:7"));
}

}  // namespace
}  // namespace xtts::testing
