// Signals whose spectrum is known on paper, under a periodic Hann window of n_fft points.
#include "dsp/spectrum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

#include "dsp/window.hpp"
#include "formats/feature_config.hpp"
#include "tests/unit/dsp/isa_support.hpp"

namespace xtts::dsp {
namespace {

class Spectrum : public EachIsa {
 protected:
  static std::vector<float> row_of(const formats::FeatureConfig& config,
                                   const std::function<double(std::size_t)>& signal) {
    Result<std::unique_ptr<SpectrumStage>> stage = SpectrumStage::create(config, GetParam());
    if (!stage.ok()) {
      ADD_FAILURE() << stage.status().message();
      return {};
    }
    std::vector<float> frame(config.stft.n_fft);
    for (std::size_t n = 0; n < frame.size(); ++n) frame[n] = static_cast<float>(signal(n));
    std::vector<float> row(frame.size() / 2 + 1);
    (*stage)->run(frame.data(), row.data());
    return row;
  }

  static formats::FeatureConfig config_of(std::uint32_t n_fft) {
    formats::FeatureConfig config;
    config.stft.n_fft = n_fft;
    config.stft.win_samples = n_fft;
    return config;
  }
};

// 16 to 50 leave odd halves and tails that fill no vector.
constexpr std::uint32_t kSizes[] = {16, 18, 20, 34, 50, 400, 1024, 1920};

TEST_P(Spectrum, PutsDcIntoTheFirstTwoBins) {
  for (const std::uint32_t n_fft : kSizes) {
    const std::vector<float> row = row_of(config_of(n_fft), [](std::size_t) { return 1.0; });
    EXPECT_NEAR(row[0], n_fft / 2.0, 1e-4 * n_fft);
    EXPECT_NEAR(row[1], n_fft / 4.0, 1e-4 * n_fft);
    for (std::size_t k = 2; k < row.size(); ++k) EXPECT_NEAR(row[k], 0.0, 1e-10 * n_fft) << k;
  }
}

TEST_P(Spectrum, PutsTheNyquistToneIntoTheLastTwoBins) {
  for (const std::uint32_t n_fft : kSizes) {
    const std::vector<float> row =
        row_of(config_of(n_fft), [](std::size_t n) { return n % 2 == 0 ? 1.0 : -1.0; });
    EXPECT_NEAR(row[n_fft / 2], n_fft / 2.0, 1e-4 * n_fft);
    EXPECT_NEAR(row[n_fft / 2 - 1], n_fft / 4.0, 1e-4 * n_fft);
    for (std::size_t k = 0; k + 2 < row.size(); ++k) EXPECT_NEAR(row[k], 0.0, 1e-10 * n_fft) << k;
  }
}

TEST_P(Spectrum, PutsASineAtABinIntoThatBinAndItsNeighbours) {
  for (const std::uint32_t n_fft : {34U, 400U, 1024U, 1920U}) {
    for (const std::size_t bin :
         {std::size_t{4}, std::size_t{n_fft / 4}, std::size_t{n_fft / 2 - 4}}) {
      const std::vector<float> row = row_of(config_of(n_fft), [=](std::size_t n) {
        return 0.8 * std::sin(2.0 * std::numbers::pi * static_cast<double>(bin * n) / n_fft);
      });
      for (std::size_t k = 0; k < row.size(); ++k) {
        const std::size_t away = k > bin ? k - bin : bin - k;
        const double expected = away == 0 ? 0.2 * n_fft : away == 1 ? 0.1 * n_fft : 0.0;
        EXPECT_NEAR(row[k], expected, 1e-5 * n_fft) << k << " of " << n_fft;
      }
    }
  }
}

TEST_P(Spectrum, SpreadsAnImpulseEvenly) {
  for (const std::uint32_t n_fft : kSizes) {
    const std::size_t at = n_fft / 3;
    const formats::FeatureConfig config = config_of(n_fft);
    const double expected = make_window(config.stft)[at];
    for (const float value : row_of(config, [at](std::size_t n) { return n == at ? 1.0 : 0.0; })) {
      EXPECT_NEAR(value, expected, 1e-6) << n_fft;
    }
  }
}

TEST_P(Spectrum, KeepsEnergyAsParsevalSays) {
  for (const std::uint32_t n_fft : kSizes) {
    formats::FeatureConfig config = config_of(n_fft);
    config.spectrum = formats::SpectrumKind::kPower;
    std::mt19937 random(n_fft);
    std::normal_distribution<float> normal;
    std::vector<double> noise(n_fft);
    for (double& value : noise) value = static_cast<double>(normal(random));
    const std::vector<float> power = row_of(config, [&](std::size_t n) { return noise[n]; });
    const std::vector<double> window = make_window(config.stft);
    double before = 0.0;
    for (std::size_t n = 0; n < n_fft; ++n) before += std::pow(noise[n] * window[n], 2.0);
    // Each bin between the ends stands for itself and its mirror image.
    double after = -static_cast<double>(power.front()) - static_cast<double>(power.back());
    for (const float value : power) after += 2.0 * static_cast<double>(value);
    EXPECT_NEAR(after / n_fft / before, 1.0, 1e-6) << n_fft;
  }
}

TEST_P(Spectrum, OffersPowerMagnitudeAndTheRootOfPowerPlusAFloor) {
  formats::FeatureConfig config = config_of(64);
  const auto signal = [](std::size_t n) { return std::sin(0.37 * static_cast<double>(n * n)); };
  config.spectrum = formats::SpectrumKind::kPower;
  const std::vector<float> power = row_of(config, signal);
  config.spectrum = formats::SpectrumKind::kMagnitude;
  const std::vector<float> magnitude = row_of(config, signal);
  config.spectrum = formats::SpectrumKind::kRootPlus;
  config.spectrum_floor = 0.5;
  const std::vector<float> root = row_of(config, signal);
  for (std::size_t k = 0; k < power.size(); ++k) {
    EXPECT_EQ(magnitude[k], std::sqrt(power[k])) << k;
    EXPECT_EQ(root[k], std::sqrt(power[k] + 0.5F)) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(EachIsa, Spectrum,
                         ::testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512), isa_name);

}  // namespace
}  // namespace xtts::dsp
