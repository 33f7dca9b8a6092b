// The extractor against the formula written down as plainly as it goes, in double, for random
// configurations of all the values that the enums offer. The seed is in each message.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "dsp/extract.hpp"
#include "dsp/mel_filters.hpp"
#include "formats/feature_config.hpp"

namespace xtts::dsp {
namespace {

using formats::FeatureConfig;

template <typename T>
T one_of(std::mt19937& random, std::initializer_list<T> values) {
  return *(values.begin() +
           std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random));
}

FeatureConfig random_config(std::mt19937& random) {
  FeatureConfig config;
  config.sample_rate_hz = one_of<std::uint32_t>(random, {16000, 22050, 24000, 44100});
  config.stft.n_fft = one_of<std::uint32_t>(random, {64, 100, 256, 400, 1024, 1920});
  config.stft.win_samples =
      one_of<std::uint32_t>(random, {config.stft.n_fft, config.stft.n_fft * 3 / 4});
  config.stft.hop_samples = config.stft.win_samples / one_of<std::uint32_t>(random, {1, 2, 4});
  config.stft.symmetry =
      one_of(random, {formats::WindowSymmetry::kPeriodic, formats::WindowSymmetry::kSymmetric});
  config.stft.framing = one_of(random, {formats::Framing::kCenter, formats::Framing::kSame,
                                        formats::Framing::kNone, formats::Framing::kEnd});
  config.stft.pad_mode = one_of(random, {formats::PadMode::kZeros, formats::PadMode::kReflect});
  config.spectrum =
      one_of(random, {formats::SpectrumKind::kMagnitude, formats::SpectrumKind::kPower,
                      formats::SpectrumKind::kRootPlus});
  if (config.spectrum == formats::SpectrumKind::kRootPlus) config.spectrum_floor = 1e-9;
  config.mel.n_mels = one_of<std::uint32_t>(random, {5, 80, 100});
  config.mel.f_min_hz = one_of(random, {0.0, 80.0});
  config.mel.f_max_hz = one_of(random, {7600.0, config.sample_rate_hz / 2.0});
  config.mel.scale = one_of(random, {formats::MelScale::kSlaney, formats::MelScale::kHtk});
  config.mel.norm = one_of(random, {formats::MelNorm::kSlaney, formats::MelNorm::kNone});
  config.log.base = one_of(random, {formats::LogBase::kNatural, formats::LogBase::kTen});
  config.log.mode = one_of(random, {formats::LogFloor::kClamp, formats::LogFloor::kAdd});
  config.log.floor = one_of(random, {1e-5, 1e-10});
  if (one_of(random, {false, true})) {
    config.normalize = {.method = formats::NormalizeMethod::kAffine, .offset = -4.0, .scale = 4.0};
  }
  return config;
}

double sample_at(const std::vector<float>& clip, const FeatureConfig& config, std::int64_t at) {
  const auto last = static_cast<std::int64_t>(clip.size()) - 1;
  const bool mirrors = config.stft.pad_mode == formats::PadMode::kReflect &&
                       config.stft.framing != formats::Framing::kEnd;
  if (mirrors && at < 0) at = -at;
  if (mirrors && at > last) at = 2 * last - at;
  return at < 0 || at > last ? 0.0 : static_cast<double>(clip[static_cast<std::size_t>(at)]);
}

double window_at(const FeatureConfig& config, std::int64_t n) {
  const std::int64_t win = config.stft.win_samples;
  const std::int64_t at = n - (config.stft.n_fft - win) / 2;
  if (at < 0 || at >= win) return 0.0;
  const bool periodic = config.stft.symmetry == formats::WindowSymmetry::kPeriodic;
  const auto period = static_cast<double>(periodic ? win : win - 1);
  return 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * static_cast<double>(at) / period);
}

std::int64_t frame_start(const FeatureConfig& config, std::uint64_t frame) {
  std::int64_t start = static_cast<std::int64_t>(frame * config.stft.hop_samples);
  if (config.stft.framing == formats::Framing::kCenter) start -= config.stft.n_fft / 2;
  if (config.stft.framing == formats::Framing::kSame) {
    start -= (config.stft.n_fft - config.stft.hop_samples) / 2;
  }
  return start;
}

// The discrete Fourier transform by its definition.
std::vector<double> spectrum_of(const std::vector<float>& clip, const FeatureConfig& config,
                                std::uint64_t frame) {
  const std::uint32_t n_fft = config.stft.n_fft;
  const std::int64_t start = frame_start(config, frame);
  std::vector<double> values;
  for (std::uint32_t k = 0; k <= n_fft / 2; ++k) {
    double re = 0.0;
    double im = 0.0;
    for (std::uint32_t n = 0; n < n_fft; ++n) {
      const double x = sample_at(clip, config, start + n) * window_at(config, n);
      const auto turn = static_cast<double>(std::uint64_t{k} * n % n_fft);
      const double phase = 2.0 * std::numbers::pi * turn / n_fft;
      re += x * std::cos(phase);
      im -= x * std::sin(phase);
    }
    const double power = re * re + im * im;
    values.push_back(config.spectrum == formats::SpectrumKind::kPower
                         ? power
                         : std::sqrt(power + config.spectrum_floor));
  }
  return values;
}

double compressed(double x, const FeatureConfig& config) {
  x = config.log.mode == formats::LogFloor::kAdd ? x + config.log.floor
                                                 : std::max(x, config.log.floor);
  x = config.log.base == formats::LogBase::kTen ? std::log10(x) : std::log(x);
  if (config.normalize.method == formats::NormalizeMethod::kAffine) {
    x = (x - config.normalize.offset) / config.normalize.scale;
  }
  return x;
}

// 1e-5 in natural-log units, and as much of the value where a sum is large (power of loud noise
// reaches e^14).
TEST(FeatureFormula, HoldsForRandomConfigurations) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    const FeatureConfig config = random_config(random);
    ASSERT_TRUE(config.validate().empty()) << "seed " << seed << ": " << config.validate().front();
    std::normal_distribution<float> normal(0.0F, one_of(random, {0.001F, 0.1F, 0.5F}));
    std::vector<float> clip(config.stft.n_fft * 3 + 17);
    for (float& sample : clip) sample = normal(random);
    Result<FeatureExtractor> extractor = FeatureExtractor::create(config);
    ASSERT_TRUE(extractor.ok()) << "seed " << seed << ": " << extractor.status().message();
    std::vector<float> mel(extractor->frame_count(clip.size()) * config.mel.n_mels);
    ASSERT_TRUE(extractor->extract(clip, mel).ok()) << "seed " << seed;
    const std::vector<MelFilter> filters =
        make_mel_filters(config.mel, config.sample_rate_hz, config.stft.n_fft);
    const std::uint64_t frame_count = mel.size() / config.mel.n_mels;
    for (const std::uint64_t frame : {std::uint64_t{0}, frame_count / 2, frame_count - 1}) {
      const std::vector<double> spectrum = spectrum_of(clip, config, frame);
      for (std::size_t m = 0; m < filters.size(); ++m) {
        double sum = 0.0;
        for (std::size_t i = 0; i < filters[m].weights.size(); ++i) {
          sum += filters[m].weights[i] * spectrum[filters[m].first_bin + i];
        }
        const double ours = static_cast<double>(mel[frame * filters.size() + m]);
        ASSERT_NEAR(ours, compressed(sum, config), 1e-5)
            << "seed " << seed << ", frame " << frame << ", band " << m;
      }
    }
  }
}

}  // namespace
}  // namespace xtts::dsp
