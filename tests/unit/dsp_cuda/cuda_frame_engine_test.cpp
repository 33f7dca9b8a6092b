// Features on CUDA against those of the CPU, over the adversarial driver and cuFFT's double.
#include "dsp_cuda/cuda_frame_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/env.hpp"
#include "dsp/extract.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "recipe/recipe_file.hpp"
#include "support/cufft/fake_cufft.hpp"
#include "unit/dsp_cuda/clip_signals.hpp"
#include "unit/dsp_cuda/fake_gpu.hpp"

namespace xtts::dsp_cuda {
namespace {

using formats::SoundColumn;

constexpr double kLargestDifference = 1e-5;  // of log-mels, in double
constexpr SoundColumn kColumns[] = {SoundColumn::kMel, SoundColumn::kLinear, SoundColumn::kEnergy};

std::vector<std::string> shipped_recipes() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(XTTS_SOURCE_DIR) + "/configs/recipes")) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

formats::FeatureConfig features_of(const std::string& recipe) {
  auto loaded = recipe::load(Env::real(), recipe);
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  return *loaded->features;
}

// The features of a clip in all columns.
struct Made {
  Status status;
  dsp::Extracted extracted;
  formats::BySoundColumn<std::vector<float>> rows;
};

Made extract(dsp::FeatureExtractor& extractor, const formats::FeatureConfig& config,
             const std::vector<float>& samples) {
  Made made;
  if (config.columns.mel) {
    made.rows[SoundColumn::kMel].resize(std::size_t{config.max_frames} * config.channel_count());
  }
  made.rows[SoundColumn::kLinear].resize(std::size_t{config.max_frames} * config.bin_count());
  made.rows[SoundColumn::kEnergy].resize(config.max_frames);
  dsp::FrameRows rows;
  for (const SoundColumn column : kColumns) rows[column] = made.rows[column];
  const auto extracted = extractor.extract(samples, rows);
  made.status = extracted.status();
  if (extracted.ok()) made.extracted = *extracted;
  return made;
}

Made extract_on_cpu(const formats::FeatureConfig& config, const std::vector<float>& samples) {
  auto extractor = dsp::FeatureExtractor::create(config);
  EXPECT_TRUE(extractor.ok()) << extractor.status().message();
  return extract(*extractor, config, samples);
}

Made extract_on_gpu(const formats::FeatureConfig& config, const std::vector<float>& samples) {
  Made made;
  const auto engines = CudaFrameEngines::open(0);
  if (!engines.ok()) {
    made.status = engines.status();
    return made;
  }
  auto extractor = dsp::FeatureExtractor::create(config, **engines);
  made.status = extractor.status();
  return extractor.ok() ? extract(*extractor, config, samples) : made;
}

// The largest difference of two columns; relative to the largest value, where there is no
// logarithm.
double difference(const Made& one, const Made& other, SoundColumn column, bool is_of_largest) {
  double most = 0.0;
  double largest = 1e-30;
  for (std::size_t i = 0; i < one.rows[column].size(); ++i) {
    const auto a = static_cast<double>(one.rows[column][i]);
    const auto b = static_cast<double>(other.rows[column][i]);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b) continue;
    most = std::max(most, std::isfinite(a - b) ? std::abs(a - b) : 1e30);
    largest = std::max(largest, std::abs(b));
  }
  return is_of_largest ? most / largest : most;
}

// The root mean square of the differences. The largest one is a matter of luck.
double mean_difference(const Made& one, const Made& other, SoundColumn column) {
  double sum = 0.0;
  for (std::size_t i = 0; i < one.rows[column].size(); ++i) {
    const double apart =
        static_cast<double>(one.rows[column][i]) - static_cast<double>(other.rows[column][i]);
    sum += apart * apart;
  }
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, one.rows[column].size())));
}

bool is_relative(SoundColumn column, const formats::FeatureConfig& config) {
  return column != SoundColumn::kMel || config.log.base == formats::LogBase::kNone;
}

void expect_alike(const Made& gpu, const Made& cpu, const formats::FeatureConfig& config,
                  double limit = kLargestDifference) {
  ASSERT_EQ(gpu.status.code(), cpu.status.code()) << gpu.status.message() << cpu.status.message();
  EXPECT_EQ(gpu.status.message(), cpu.status.message());
  if (!cpu.status.ok()) return;
  EXPECT_EQ(gpu.extracted.frame_count, cpu.extracted.frame_count);
  for (const SoundColumn column : kColumns) {
    EXPECT_LE(difference(gpu, cpu, column, is_relative(column, config)), limit)
        << "column " << static_cast<int>(column);
    EXPECT_NEAR(gpu.extracted.fills[column], cpu.extracted.fills[column],
                limit * std::max(1.0, std::abs(static_cast<double>(cpu.extracted.fills[column]))));
  }
}

formats::FeatureConfig small_config() {
  formats::FeatureConfig config = features_of("myxtts");
  config.stft.n_fft = 64;
  config.stft.win_samples = 48;
  config.stft.hop_samples = 16;
  config.mel.n_mels = 8;
  config.max_frames = 700;
  return config;
}

class EachRecipe : public ::testing::TestWithParam<std::string> {};

TEST_P(EachRecipe, IsAsOnTheCpu) {
  formats::FeatureConfig config = features_of(GetParam());
  config.precision = formats::Precision::kDouble;
  const testing::FakeGpu gpu({.latest = std::chrono::milliseconds(1)});
  for (const testing::ClipSignal& clip : testing::real_or_made_clips()) {
    SCOPED_TRACE(clip.name);
    const Made on_cpu = extract_on_cpu(config, clip.samples);
    ASSERT_TRUE(on_cpu.status.ok()) << on_cpu.status.message();
    expect_alike(extract_on_gpu(config, clip.samples), on_cpu, config);
  }
}

// In float32 both are apart from the formula: one recipe's clip by luck, all recipes alike.
TEST(CudaFrameEngine, IsNoFurtherFromTheFormulaThanTheCpuInFloat32) {
  const testing::FakeGpu gpu({.latest = std::chrono::milliseconds(1)});
  const testing::ClipSignal clip = testing::real_or_made_clips().front();
  double sum = 0.0;
  std::size_t count = 0;
  for (const std::string& recipe : shipped_recipes()) {
    SCOPED_TRACE(recipe);
    formats::FeatureConfig config = features_of(recipe);
    config.precision = formats::Precision::kDouble;
    const Made exact = extract_on_cpu(config, clip.samples);
    config.precision = formats::Precision::kFloat32;
    const Made on_gpu = extract_on_gpu(config, clip.samples);
    ASSERT_TRUE(on_gpu.status.ok()) << on_gpu.status.message();
    const Made on_cpu = extract_on_cpu(config, clip.samples);
    for (const SoundColumn column : kColumns) {
      const double of_gpu = mean_difference(on_gpu, exact, column);
      const double of_cpu = mean_difference(on_cpu, exact, column);
      EXPECT_LE(of_gpu, 1.5 * of_cpu) << "column " << static_cast<int>(column);
      if (of_cpu == 0.0) continue;
      sum += std::log(of_gpu / of_cpu);
      ++count;
    }
  }
  std::printf("the GPU's mean distance is %.3f of the CPU's\n",
              std::exp(sum / static_cast<double>(count)));
  EXPECT_LE(std::exp(sum / static_cast<double>(count)), 1.05);
}

// NVIDIA's library rounds otherwise than FFTW. The error of either is some 1e-16 of a transform's
// root mean square; this noise is a million times as large.
TEST_P(EachRecipe, IsAsOnTheCpuWhereTheTransformRoundsOtherwise) {
  formats::FeatureConfig config = features_of(GetParam());
  config.precision = formats::Precision::kDouble;
  const testing::FakeGpu gpu({.latest = std::chrono::milliseconds(1)});
  testing::fake_cufft::set_noise(1e-10);
  const auto clips = testing::real_or_made_clips();
  const Made on_gpu = extract_on_gpu(config, clips.front().samples);
  const Made on_cpu = extract_on_cpu(config, clips.front().samples);
  expect_alike(on_gpu, on_cpu, config);
  EXPECT_TRUE(on_cpu.status.ok());
  std::printf(
      "%s: %u frames, at most %.3g apart\n", GetParam().c_str(), on_cpu.extracted.frame_count,
      difference(on_gpu, on_cpu, SoundColumn::kMel, is_relative(SoundColumn::kMel, config)));
}

INSTANTIATE_TEST_SUITE_P(CudaFrameEngine, EachRecipe, ::testing::ValuesIn(shipped_recipes()),
                         [](const auto& recipe) {
                           std::string name = recipe.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(CudaFrameEngine, ClipsOfAllLengthsAndFramingsAreAsOnTheCpu) {
  const testing::FakeGpu gpu({.seed = 3, .latest = std::chrono::milliseconds(1)});
  using formats::Framing;
  using formats::PadMode;
  for (const Framing framing : {Framing::kCenter, Framing::kSame, Framing::kNone, Framing::kEnd,
                                Framing::kSnipEdges, Framing::kKeepEdges}) {
    for (const PadMode mode : {PadMode::kZeros, PadMode::kReflect, PadMode::kReflectAgain}) {
      formats::FeatureConfig config = small_config();
      config.stft.framing = framing;
      config.stft.pad_mode = mode;
      if (!config.validate().empty()) continue;
      const auto engines = CudaFrameEngines::open(0);
      ASSERT_TRUE(engines.ok()) << engines.status().message();
      auto on_gpu = dsp::FeatureExtractor::create(config, **engines);
      auto on_cpu = dsp::FeatureExtractor::create(config);
      ASSERT_TRUE(on_gpu.ok() && on_cpu.ok());
      for (const std::size_t count :
           {0, 1, 2, 15, 16, 31, 32, 33, 47, 64, 65, 4095, 4096, 4112, 8200, 20'000}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(framing)) + "/" +
                     std::to_string(static_cast<int>(mode)) + ", " + std::to_string(count));
        const std::vector<float> samples = testing::made_clip(count, count);
        expect_alike(extract(*on_gpu, config, samples), extract(*on_cpu, config, samples), config);
      }
    }
  }
}

TEST(CudaFrameEngine, KaldisStepsAndZerosAndOtherSpectraAreAsOnTheCpu) {
  const testing::FakeGpu gpu({.seed = 4, .latest = std::chrono::milliseconds(1)});
  for (int variant = 0; variant < 32; ++variant) {
    SCOPED_TRACE(variant);
    formats::FeatureConfig config = small_config();
    config.stft.remove_dc = (variant & 1) != 0;
    config.stft.preemphasis = (variant & 2) != 0 ? 0.97 : 0.0;
    config.zeros.front_samples = (variant & 4) != 0 ? 37 : 0;
    config.zeros.back_samples = (variant & 4) != 0 ? 11 : 0;
    config.spectrum = static_cast<formats::SpectrumKind>(variant % 3);
    config.spectrum_floor = config.spectrum == formats::SpectrumKind::kRootPlus ? 1e-6 : 0.0;
    if ((variant & 8) != 0) config.mel.scale = formats::MelScale::kNone;
    if ((variant & 16) != 0) config.sample_scale = 32768.0;
    config.stft.n_fft = (variant & 1) != 0 ? 66 : 64;  // 33 points: an odd half
    if (const auto problems = config.validate(); !problems.empty()) continue;
    const std::vector<float> samples = testing::made_clip(5'000, 9);
    expect_alike(extract_on_gpu(config, samples), extract_on_cpu(config, samples), config);
  }
}

TEST(CudaFrameEngine, PaddingOfSamplesIsAsOnTheCpu) {
  const testing::FakeGpu gpu({.seed = 5, .latest = std::chrono::milliseconds(1)});
  formats::FeatureConfig config = features_of("whisper-80");
  ASSERT_EQ(config.pad, formats::PadWhat::kSamples);
  config.max_frames = 300;
  for (const std::size_t count : {1UL, 4'000UL, 48'000UL, 60'000UL}) {
    SCOPED_TRACE(count);
    const std::vector<float> samples = testing::made_clip(count, 2);
    expect_alike(extract_on_gpu(config, samples), extract_on_cpu(config, samples), config);
  }
}

TEST(CudaFrameEngine, SilenceAndBrokenSamplesAreAsOnTheCpu) {
  const testing::FakeGpu gpu({.seed = 6, .latest = std::chrono::milliseconds(1)});
  const formats::FeatureConfig config = small_config();
  std::vector<float> silence(9'000);
  expect_alike(extract_on_gpu(config, silence), extract_on_cpu(config, silence), config);
  for (const float bad : {1e17F, 1e21F, -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::size_t place : {0UL, 4'500UL, 8'999UL}) {
      SCOPED_TRACE(std::to_string(bad) + " at " + std::to_string(place));
      std::vector<float> samples = testing::made_clip(9'000, 1);
      samples[place] = bad;
      const Made on_gpu = extract_on_gpu(config, samples);
      expect_alike(on_gpu, extract_on_cpu(config, samples), config);
      EXPECT_EQ(on_gpu.status.code() == StatusCode::kBadInput, !(std::abs(bad) < 1e18F));
    }
  }
}

TEST(CudaFrameEngine, AnExtractorWorksOnAfterABrokenClip) {
  const testing::FakeGpu gpu({.latest = std::chrono::milliseconds(1)});
  const formats::FeatureConfig config = small_config();
  const auto engines = CudaFrameEngines::open(0);
  ASSERT_TRUE(engines.ok());
  auto extractor = dsp::FeatureExtractor::create(config, **engines);
  ASSERT_TRUE(extractor.ok());
  const std::vector<float> good = testing::made_clip(9'000, 1);
  const std::vector<float> broken(9'000, 1e21F);
  EXPECT_EQ(extract(*extractor, config, broken).status.code(), StatusCode::kBadInput);
  expect_alike(extract(*extractor, config, good), extract_on_cpu(config, good), config);
}

TEST(CudaFrameEngine, ADeviceIsNamedWithAllThatDecidesItsNumbers) {
  const testing::FakeGpu gpu;
  const auto engines = CudaFrameEngines::open(0);
  ASSERT_TRUE(engines.ok());
  EXPECT_THAT((*engines)->device(), ::testing::MatchesRegex("cuda: .+, sm_90, cuFFT 12\\.0\\.0"));
}

TEST(CudaFrameEngine, AMissingGpuIsSaid) {
  const testing::FakeGpu gpu;
  const Status status = CudaFrameEngines::open(1).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), ::testing::HasSubstr("no GPU cuda:1"));
}

// XTTS_CUDA_SEEDS: another number of seeds.
TEST(CudaFrameEngine, EveryOrderOfTheDriversWorkGivesTheSameFeatures) {
  const char* const given = std::getenv("XTTS_CUDA_SEEDS");
  const std::uint64_t seeds = given == nullptr ? 300 : std::strtoull(given, nullptr, 10);
  formats::FeatureConfig config = small_config();
  const std::vector<float> first = testing::made_clip(9'000, 1);
  const std::vector<float> second = testing::made_clip(3'000, 2);
  for (const bool is_double : {true, false}) {
    config.precision = is_double ? formats::Precision::kDouble : formats::Precision::kFloat32;
    config.stft.remove_dc = !is_double;
    Made wanted_first;
    Made wanted_second;
    for (std::uint64_t seed = 0; seed < seeds / 2; ++seed) {
      SCOPED_TRACE(seed);
      const testing::FakeGpu gpu({.seed = seed, .latest = std::chrono::milliseconds(2)});
      const auto engines = CudaFrameEngines::open(0);
      ASSERT_TRUE(engines.ok());
      std::vector<Made> firsts(2);
      std::vector<Made> seconds(2);
      const auto work = [&](std::size_t i) {
        auto extractor = dsp::FeatureExtractor::create(config, **engines);
        ASSERT_TRUE(extractor.ok()) << extractor.status().message();
        firsts[i] = extract(*extractor, config, first);
        seconds[i] = extract(*extractor, config, second);
      };
      std::thread other(work, 1);
      work(0);
      other.join();
      if (seed == 0) {
        wanted_first = firsts[0];
        wanted_second = seconds[0];
        expect_alike(wanted_first, extract_on_cpu(config, first), config, is_double ? 1e-5 : 1e-2);
      }
      for (std::size_t i = 0; i < 2; ++i) {
        ASSERT_TRUE(firsts[i].status.ok() && seconds[i].status.ok());
        for (const SoundColumn column : kColumns) {
          ASSERT_EQ(firsts[i].rows[column], wanted_first.rows[column]);
          ASSERT_EQ(seconds[i].rows[column], wanted_second.rows[column]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace xtts::dsp_cuda
