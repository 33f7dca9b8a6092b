// The frame kernels as NVIDIA's compiler has translated them, in the interpreter of PTX, against
// the same headers compiled for the host. An engine over the fake driver makes the launches. Equal
// in every bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/env.hpp"
#include "dsp/extract.hpp"
#include "dsp_cuda/cuda_frame_engine.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "recipe/recipe_file.hpp"
#include "support/ptx/kernel_files.hpp"
#include "support/ptx/mutations.hpp"
#include "support/ptx/parser.hpp"
#include "unit/dsp_cuda/clip_signals.hpp"
#include "unit/dsp_cuda/fake_gpu.hpp"
#include "unit/dsp_cuda/recorded_launches.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): a symbol of assembler
extern "C" const char xtts_frame_kernels_ptx[];

namespace xtts::dsp_cuda {
namespace {

using formats::FeatureConfig;
using formats::SoundColumn;
using testing::RecordedLaunch;
namespace ptx = testing::ptx;

constexpr std::size_t kKernelCount = 8;

FeatureConfig config_of(const std::string& recipe) {
  auto loaded = recipe::load(Env::real(), recipe);
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  return *loaded->features;
}

// A clip and a recipe for it.
struct FrameCase {
  FeatureConfig config;
  std::vector<float> samples;
};

class CaseMaker {
 public:
  explicit CaseMaker(std::uint32_t seed) : random_(seed), recipe_(config_of("myxtts")) {}

  // Windows of all lengths, every framing and padding, Kaldi's steps, the three spectra, every
  // compression; clips that are shorter than a frame, and broken ones.
  FrameCase make() {
    FeatureConfig config = random_config();
    while (!config.validate().empty()) config = random_config();
    return {.config = std::move(config), .samples = random_clip()};
  }

 private:
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_()) % end; }
  bool is_one_of(std::uint32_t count) { return below(count) == 0; }

  FeatureConfig random_config() {
    FeatureConfig config = recipe_;
    auto& stft = config.stft;
    stft.n_fft = 2 * (2 + below(20));
    stft.win_samples = 2 + below(stft.n_fft - 1);
    stft.hop_samples = 1 + below(stft.n_fft / 2);
    stft.framing = static_cast<formats::Framing>(below(6));
    stft.pad_mode =
        is_one_of(4) ? formats::PadMode::kZeros : static_cast<formats::PadMode>(1 + below(2));
    stft.remove_dc = !is_one_of(5);
    stft.preemphasis = is_one_of(2) ? 0.97 : 0.0;
    if (is_one_of(2)) config.zeros = {.front_samples = below(30), .back_samples = below(30)};
    config.spectrum = static_cast<formats::SpectrumKind>(below(3));
    config.spectrum_floor = config.spectrum == formats::SpectrumKind::kRootPlus ? 1e-6 : 0.0;
    config.sample_scale = is_one_of(2) ? 32768.0 : 1.0;
    config.mel.n_mels = 1 + below(8);
    if (is_one_of(3)) config.mel.scale = formats::MelScale::kNone;
    config.log.base = static_cast<formats::LogBase>(below(3));
    config.log.mode = static_cast<formats::LogFloor>(below(2));
    config.log.floor = is_one_of(2) ? 1.0 : 1e-5;
    config.normalize = {};
    if (is_one_of(2)) {
      config.normalize.method = formats::NormalizeMethod::kAffine;
      config.normalize.offset = -4.25;
      config.normalize.scale = 4.5;
    }
    config.columns.energy = true;
    config.max_frames = 1 + below(12);
    config.precision = is_one_of(2) ? formats::Precision::kDouble : formats::Precision::kFloat32;
    return config;
  }

  std::vector<float> random_clip() {
    std::vector<float> samples =
        testing::made_clip(1 + below(is_one_of(2) ? 20 : 100), below(1000));
    constexpr float kOdd[] = {std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(), 1e30F,
                              std::numeric_limits<float>::denorm_min()};
    if (is_one_of(3)) samples[below(static_cast<std::uint32_t>(samples.size()))] = kOdd[below(4)];
    if (is_one_of(6)) {
      for (float& sample : samples) sample *= 1e-38F;
    }
    return samples;
  }

  std::mt19937 random_;
  FeatureConfig recipe_;
};

// Rows of the windows' kernel behind the last frame are zeros. One of 256 is enough for most tests.
RecordedLaunch shortened(RecordedLaunch launch) {
  if (launch.grid_y <= launch.table.frame_count) return launch;
  const std::uint32_t rows = launch.table.frame_count + 1;
  for (auto& range : launch.ranges) {
    if (!range.is_written) continue;
    range.before.resize(range.before.size() / launch.grid_y * rows);
    range.after.resize(range.after.size() / launch.grid_y * rows);
  }
  launch.grid_y = rows;
  return launch;
}

// The interpreter's findings in launches of an engine.
class FrameKernelsPtx : public ::testing::TestWithParam<std::string> {
 protected:
  static std::string text_of_kernels() { return ptx::text_of(GetParam()); }
  void SetUp() override {
    auto parsed = ptx::parse(text_of_kernels());
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    program_ = *parsed;
    ASSERT_EQ(program_.size(), kKernelCount);
  }

  // The launches for a clip, with all columns. A clip may be bad input.
  static std::vector<RecordedLaunch> launches_of(const FeatureConfig& config,
                                                 const std::vector<float>& samples) {
    const testing::FakeGpu gpu({.latest = std::chrono::milliseconds(1)});
    testing::LaunchRecorder recorder;
    const auto engines = CudaFrameEngines::open(0);
    EXPECT_TRUE(engines.ok()) << engines.status().message();
    auto extractor = dsp::FeatureExtractor::create(config, **engines);
    EXPECT_TRUE(extractor.ok()) << extractor.status().message();
    const std::size_t frames = config.max_frames;
    formats::BySoundColumn<std::vector<float>> values;
    values[SoundColumn::kMel].resize(config.columns.mel ? frames * config.channel_count() : 0);
    values[SoundColumn::kLinear].resize(frames * config.bin_count());
    values[SoundColumn::kEnergy].resize(frames);
    dsp::FrameRows rows;
    for (const SoundColumn column : {SoundColumn::kMel, SoundColumn::kLinear, SoundColumn::kEnergy})
      rows[column] = values[column];
    (void)extractor->extract(samples, rows);
    return recorder.take();
  }

  void expect_equal(const RecordedLaunch& launch, std::uint32_t grid_x, std::uint32_t block_x) {
    EXPECT_EQ(difference(launch, replay(program_, launch, grid_x, block_x)), "");
    seen_.insert(launch.kernel);
  }

  ptx::Program program_;
  std::set<std::string> seen_;
};

constexpr std::uint32_t kSeed = 21;
constexpr int kCaseCount = 200;
// Few threads, which take several pieces each.
constexpr std::uint32_t kFewBlocks = 2;
constexpr std::uint32_t kFewThreads = 2;

TEST_P(FrameKernelsPtx, EqualTheHostAsTheEngineLaunchesThem) {
  CaseMaker maker(kSeed);
  for (int i = 0; i < kCaseCount / 20; ++i) {
    SCOPED_TRACE("case " + std::to_string(i) + " of seed " + std::to_string(kSeed));
    const FrameCase one = maker.make();
    for (const RecordedLaunch& launch : launches_of(one.config, one.samples)) {
      expect_equal(launch, launch.grid_x, launch.block_x);
    }
  }
  EXPECT_EQ(seen_.size(), kKernelCount);
}

TEST_P(FrameKernelsPtx, EqualTheHostWhereThreadsTakeSeveralPieces) {
  CaseMaker maker(kSeed);
  for (int i = 0; i < kCaseCount; ++i) {
    SCOPED_TRACE("case " + std::to_string(i) + " of seed " + std::to_string(kSeed));
    const FrameCase one = maker.make();
    for (const RecordedLaunch& launch : launches_of(one.config, one.samples)) {
      expect_equal(shortened(launch), kFewBlocks, kFewThreads);
    }
  }
  EXPECT_EQ(seen_.size(), kKernelCount);
}

// The sizes of shipped recipes.
TEST_P(FrameKernelsPtx, EqualTheHostForShippedRecipes) {
  for (const char* const recipe : {"myxtts", "whisper-80", "kaldi-fbank"}) {
    SCOPED_TRACE(recipe);
    FeatureConfig config = config_of(recipe);
    config.max_frames = 8;
    for (const RecordedLaunch& launch : launches_of(config, testing::made_clip(1'500, 1))) {
      expect_equal(shortened(launch), launch.grid_x, launch.block_x);
    }
  }
}

bool is_noticed(const ptx::Mutation& mutation, const std::vector<RecordedLaunch>& launches) {
  constexpr std::uint64_t kStepsMax = 100'000;  // a wrong loop may have no end
  const auto program = ptx::parse(mutation.program);
  EXPECT_TRUE(program.ok()) << program.status().message();
  return program.ok() && std::ranges::any_of(launches, [&](const RecordedLaunch& launch) {
           const auto replayed = replay(*program, launch, kFewBlocks, kFewThreads, kStepsMax);
           return !difference(launch, replayed).empty();
         });
}

TEST_P(FrameKernelsPtx, WrongInstructionsAreNoticed) {
  std::map<std::string, std::vector<RecordedLaunch>> launches;  // by kernel
  CaseMaker maker(kSeed);
  for (int i = 0; i < kCaseCount; ++i) {
    const FrameCase one = maker.make();
    for (const RecordedLaunch& launch : launches_of(one.config, one.samples)) {
      launches[launch.kernel].push_back(shortened(launch));
    }
  }
  ptx::MutationCount count;
  for (const ptx::Mutation& mutation : ptx::mutations_of(text_of_kernels())) {
    count.add(mutation, is_noticed(mutation, launches[mutation.kernel]));
  }
  EXPECT_EQ(count.shortfall(), "");
}

TEST(StoredFrameKernels, AreEmbeddedForEveryDriverForCuda12) {
  const std::string stored = ptx::text_of(ptx::kernel_files(XTTS_FRAME_KERNELS_PTX).front());
  EXPECT_THAT(stored, ::testing::HasSubstr("\n.version 8.0\n.target sm_75\n"));
  EXPECT_EQ(std::string(xtts_frame_kernels_ptx), stored);
}

INSTANTIATE_TEST_SUITE_P(Kernels, FrameKernelsPtx,
                         ::testing::ValuesIn(ptx::kernel_files(XTTS_FRAME_KERNELS_PTX)),
                         ptx::name_of_file);

}  // namespace
}  // namespace xtts::dsp_cuda
