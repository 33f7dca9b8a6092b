// Each call of the driver and of cuFFT fails once, at each place: the error is told in words, the
// extractor works on, no rule of the driver is broken, and nothing is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cuda/kernels/range_tables.hpp"
#include "cuda/module.hpp"
#include "dsp/extract.hpp"
#include "dsp_cuda/cuda_frame_engine.hpp"
#include "formats/feature_config.hpp"
#include "support/cufft/fake_cufft.hpp"
#include "unit/dsp_cuda/clip_signals.hpp"
#include "unit/dsp_cuda/fake_gpu.hpp"

namespace xtts::dsp_cuda {
namespace {

formats::FeatureConfig tiny_config() {
  formats::FeatureConfig config;
  config.stft.n_fft = config.stft.win_samples = 64;
  config.stft.hop_samples = 16;
  config.stft.remove_dc = true;
  config.mel.n_mels = 8;
  config.mel.f_max_hz = 8000.0;
  config.max_frames = 400;
  return config;
}

struct Outcome {
  std::vector<Status> failures;
  bool is_right = true;  // all features that were made
};

// Opens a GPU, and computes one clip twice.
Outcome run(const std::vector<float>& wanted) {
  Outcome outcome;
  const formats::FeatureConfig config = tiny_config();
  const std::vector<float> samples = testing::made_clip(5'000, 1);
  const auto engines = CudaFrameEngines::open(0);
  if (!engines.ok()) return {.failures = {engines.status()}};
  auto extractor = dsp::FeatureExtractor::create(config, **engines);
  if (!extractor.ok()) return {.failures = {extractor.status()}};
  for (int i = 0; i < 2; ++i) {
    std::vector<float> mels(std::size_t{config.max_frames} * config.channel_count());
    const auto made = extractor->extract(samples, mels);
    if (!made.ok()) {
      outcome.failures.push_back(made.status());
    } else if (!wanted.empty() && mels != wanted) {
      outcome.is_right = false;
    }
  }
  return outcome;
}

std::vector<float> right_mels() {
  const testing::FakeGpu gpu;
  const formats::FeatureConfig config = tiny_config();
  const auto engines = CudaFrameEngines::open(0);
  auto extractor = dsp::FeatureExtractor::create(config, **engines);
  std::vector<float> mels(std::size_t{config.max_frames} * config.channel_count());
  EXPECT_TRUE(extractor->extract(testing::made_clip(5'000, 1), mels).ok());
  return mels;
}

void expect_words(const Outcome& outcome, const std::string& words) {
  EXPECT_LE(outcome.failures.size(), 1U) << "the second clip failed, too";
  EXPECT_TRUE(outcome.is_right);
  for (const Status& failure : outcome.failures) {
    EXPECT_EQ(failure.code(), StatusCode::kResource) << failure.message();
    EXPECT_THAT(failure.message(), ::testing::HasSubstr(words));
  }
}

TEST(CudaFailures, EveryFailureOfTheDriverIsAnError) {
  const std::vector<float> wanted = right_mels();
  const std::vector<std::string> names = {"cuDeviceGet",          "cuDeviceGetName",
                                          "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
                                          "cuCtxPushCurrent",     "cuMemAlloc",
                                          "cuMemHostRegister",    "cuMemcpyHtoDAsync",
                                          "cuMemcpyDtoHAsync",    "cuStreamCreateWithPriority",
                                          "cuStreamSynchronize",  "cuEventCreate",
                                          "cuEventRecord",        "cuEventSynchronize",
                                          "cuModuleLoadData",     "cuModuleGetFunction",
                                          "cuLaunchKernel"};
  for (const std::string& name : names) {
    std::uint64_t nth = 1;
    for (bool was_reached = true; was_reached && nth < 200; ++nth) {
      SCOPED_TRACE(name + ", call " + std::to_string(nth));
      testing::FakeGpu gpu({.seed = nth,
                            .failing_calls = {{.name = name, .nth = nth}},
                            .latest = std::chrono::milliseconds(1)});
      const Outcome outcome = run(wanted);
      was_reached = testing::fake_cuda::call_count(name) >= nth;
      expect_words(outcome, "");
      EXPECT_TRUE(was_reached || outcome.failures.empty());
      // A context that cannot be made current at the end keeps what it has.
      const bool may_leave = name == "cuCtxPushCurrent" && outcome.failures.empty();
      const std::vector<std::string> wrong = gpu.close();
      ASSERT_TRUE(may_leave || wrong.empty()) << ::testing::PrintToString(wrong);
    }
    EXPECT_GT(nth, 2U) << name << " was never called";
  }
}

TEST(CudaFailures, EveryFailureOfCufftIsAnError) {
  const std::vector<float> wanted = right_mels();
  for (const std::string name : {"cufftPlanMany", "cufftSetStream", "cufftExecZ2Z"}) {
    std::uint64_t nth = 1;
    for (bool was_reached = true; was_reached; ++nth) {
      SCOPED_TRACE(name + ", call " + std::to_string(nth));
      const testing::FakeGpu gpu({.seed = nth, .latest = std::chrono::milliseconds(1)});
      testing::fake_cufft::fail(name, nth, nth % 2 == 0 ? 2 : 6);
      const Outcome outcome = run(wanted);
      was_reached = testing::fake_cufft::call_count(name) >= nth;
      expect_words(outcome, "cuFFT says");
      EXPECT_EQ(outcome.failures.size(), was_reached ? 1U : 0U);
    }
    EXPECT_GT(nth, 2U) << name << " was never called";
  }
}

// Nothing can be done about them, and nothing else may go wrong.
TEST(CudaFailures, CallsThatGiveBackMayFail) {
  const std::vector<float> wanted = right_mels();
  for (const std::string name : {"cuMemFree", "cuMemHostUnregister", "cuStreamDestroy",
                                 "cuEventDestroy", "cuModuleUnload"}) {
    SCOPED_TRACE(name);
    testing::FakeGpu gpu(
        {.failing_calls = {{.name = name, .nth = 1}}, .latest = std::chrono::milliseconds(1)});
    expect_words(run(wanted), "");
    EXPECT_GE(testing::fake_cuda::call_count(name), 1U);
    EXPECT_FALSE(gpu.close().empty());
  }
  testing::FakeGpu gpu({.latest = std::chrono::milliseconds(1)});
  testing::fake_cufft::fail("cufftDestroy", 1, 5);
  expect_words(run(wanted), "");
  EXPECT_THAT(gpu.close(), ::testing::Contains("left: a plan of cuFFT"));
}

// ctest runs each test in a process of its own. The library is opened once in each.
TEST(CudaFailures, AVersionThatCufftDoesNotTellIsAnError) {
  const testing::FakeGpu gpu;
  testing::fake_cufft::fail("cufftGetVersion", 1, 7);
  const auto engines = CudaFrameEngines::open(0);
  if (engines.ok()) GTEST_SKIP() << "another test of this process has opened cuFFT";
  EXPECT_EQ(engines.status().code(), StatusCode::kResource);
  EXPECT_THAT(engines.status().message(), ::testing::HasSubstr("CUFFT_SETUP_FAILED"));
  EXPECT_TRUE(CudaFrameEngines::open(0).ok());
}

TEST(CudaFailures, WhereTheCompiledKernelsDoNotLoadPtxDoes) {
  const std::string ptx = "//\n.visible .entry " + std::string(cuda::kFillKernel) + "(\n";
  const auto bytes_of = [](const char* text) { return reinterpret_cast<const std::byte*>(text); };
  for (const cuda::CallResult code : {cuda::kNoBinaryForGpu, cuda::kUnsupportedPtx, 999}) {
    const testing::FakeGpu gpu({.failing_calls = {{.name = "cuModuleLoadData", .code = code}}});
    const auto context = cuda::Context::open(0);
    ASSERT_TRUE(context.ok()) << context.status().message();
    const auto module = cuda::Module::load(
        *context, {bytes_of(testing::fake_cuda::kTestImage), bytes_of(ptx.c_str())});
    ASSERT_TRUE(module.ok()) << module.status().message();
    EXPECT_TRUE(module->find(cuda::kFillKernel).ok());
    EXPECT_FALSE(module->find(cuda::kChangeKernel).ok()) << "that is not in this PTX";
  }
}

TEST(CudaFailures, ADriverThatDoesNotTakeTheKernelsSaysWhatHelps) {
  const auto words_for = [](cuda::CallResult code) {
    const testing::FakeGpu gpu(
        {.failing_calls = {{.name = "cuModuleLoadData", .nth = 0, .code = code}}});
    const Outcome outcome = run({});
    if (outcome.failures.size() != 1) return std::string("loaded");
    EXPECT_EQ(outcome.failures.front().code(), StatusCode::kUnsupported);
    return outcome.failures.front().message();
  };
  for (const cuda::CallResult code : {cuda::kNoPtxCompiler, cuda::kPtxCompilerIsOff}) {
    EXPECT_THAT(words_for(code), ::testing::HasSubstr("libnvidia-ptxjitcompiler.so.1"));
  }
  for (const cuda::CallResult code :
       {cuda::kInvalidImage, cuda::kNoBinaryForGpu, cuda::kInvalidPtx, cuda::kUnsupportedPtx}) {
    EXPECT_THAT(words_for(code), ::testing::HasSubstr("does not take this build's kernels"));
  }
}

TEST(CudaFailures, AFullGpuIsAnError) {
  const testing::FakeGpu gpu({.memory_bytes = 8'192});
  const Outcome outcome = run({});
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures.front().code(), StatusCode::kResource);
}

}  // namespace
}  // namespace xtts::dsp_cuda
