#include "dsp/mel_filters.hpp"
#include "formats/frame_config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace xtts::dsp {
namespace {

using formats::MelConfig;
using formats::MelNorm;
using formats::MelScale;

TEST(MelScale, RoundTripsFromHertzAndBack) {
  for (const MelScale scale : {MelScale::kSlaney, MelScale::kHtk}) {
    for (double hz = 0.0; hz <= 24000.0; hz += 37.5) {
      EXPECT_NEAR(mel_to_hz(hz_to_mel(hz, scale), scale), hz, 1e-9 * (1.0 + hz));
    }
  }
}

TEST(MelScale, PassesThroughTheDefinitionsPoints) {
  EXPECT_DOUBLE_EQ(hz_to_mel(1000.0, MelScale::kSlaney), 15.0);
  EXPECT_DOUBLE_EQ(hz_to_mel(6400.0, MelScale::kSlaney), 42.0);
  EXPECT_NEAR(hz_to_mel(1000.0, MelScale::kHtk), 1000.0, 0.05);
  EXPECT_DOUBLE_EQ(hz_to_mel(700.0, MelScale::kHtk), 2595.0 * 0.30102999566398120);
}

class EachScaleAndNorm : public ::testing::TestWithParam<std::tuple<MelScale, MelNorm>> {};

TEST_P(EachScaleAndNorm, HasNoNegativeWeightAndRisesThenFalls) {
  const auto [scale, norm] = GetParam();
  const MelConfig config{.n_mels = 80, .f_max_hz = 8000.0, .scale = scale, .norm = norm};
  const std::vector<MelFilter> filters = make_mel_filters(config, 22050, 1024);
  ASSERT_EQ(filters.size(), 80U);
  for (const MelFilter& filter : filters) {
    EXPECT_LE(filter.first_bin + filter.weights.size(), 513U);
    bool falling = false;
    for (std::size_t i = 0; i < filter.weights.size(); ++i) {
      EXPECT_GT(filter.weights[i], 0.0);
      if (i == 0) continue;
      if (filter.weights[i] < filter.weights[i - 1]) falling = true;
      if (falling) {
        EXPECT_LT(filter.weights[i], filter.weights[i - 1]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EachScaleAndNorm,
                         ::testing::Combine(::testing::Values(MelScale::kSlaney, MelScale::kHtk),
                                            ::testing::Values(MelNorm::kNone, MelNorm::kSlaney)));

// Neighbouring triangles without a norm add up to 1 between the first and the last centre.
TEST(MelFilters, AddUpToOneWithoutANorm) {
  const MelConfig config{.n_mels = 40, .f_max_hz = 11025.0, .norm = MelNorm::kNone};
  std::vector<double> sums(513, 0.0);
  for (const MelFilter& filter : make_mel_filters(config, 22050, 1024)) {
    for (std::size_t i = 0; i < filter.weights.size(); ++i) {
      sums[filter.first_bin + i] += filter.weights[i];
    }
  }
  for (std::size_t bin = 20; bin < 470; ++bin) EXPECT_NEAR(sums[bin], 1.0, 1e-12) << bin;
}

// Straight over mels they add up to 1 likewise, and lean towards the low side of their centre.
TEST(MelFilters, AreStraightOverMelsIfAsked) {
  MelConfig config{.n_mels = 10,
                   .f_max_hz = 8000.0,
                   .scale = MelScale::kHtk,
                   .norm = MelNorm::kNone,
                   .triangles = formats::MelTriangles::kMel};
  const std::vector<MelFilter> over_mels = make_mel_filters(config, 16000, 1024);
  const double step = hz_to_mel(8000.0, MelScale::kHtk) / 11.0;
  for (std::size_t m = 0; m < 10; ++m) {
    for (std::size_t i = 0; i < over_mels[m].weights.size(); ++i) {
      const double hz = static_cast<double>(over_mels[m].first_bin + i) * 16000.0 / 1024.0;
      const double away = hz_to_mel(hz, MelScale::kHtk) / step - static_cast<double>(m + 1);
      EXPECT_NEAR(over_mels[m].weights[i], 1.0 - std::abs(away), 1e-12);
    }
  }
  config.triangles = formats::MelTriangles::kHz;
  EXPECT_LT(make_mel_filters(config, 16000, 1024)[9].weights[40], over_mels[9].weights[40]);
}

TEST(MelFilters, TakeTheBinsForThoseOfAnotherRate) {
  MelConfig config{.n_mels = 80, .f_max_hz = 8000.0};
  const std::vector<MelFilter> expected = make_mel_filters(config, 16000, 2048);
  config.bins_rate_hz = 16000;
  const std::vector<MelFilter> filters = make_mel_filters(config, 24000, 2048);
  for (std::size_t m = 0; m < 80; ++m) {
    EXPECT_EQ(filters[m].first_bin, expected[m].first_bin);
    EXPECT_EQ(filters[m].weights, expected[m].weights);
  }
}

// Slaney's norm: area 1 over hertz. Bins sample the triangle, so wide filters come near it.
TEST(MelFilters, HaveUnitAreaWithSlaneysNorm) {
  const std::vector<MelFilter> filters =
      make_mel_filters({.n_mels = 80, .f_max_hz = 11025.0}, 22050, 16384);
  const double hz_per_bin = 22050.0 / 16384.0;
  for (const MelFilter& filter : filters) {
    const double sum = std::accumulate(filter.weights.begin(), filter.weights.end(), 0.0);
    EXPECT_NEAR(sum * hz_per_bin, 1.0, 1e-3);
  }
}

TEST(MelFilters, LeaveAFilterNarrowerThanTheBinsEmpty) {
  const std::vector<MelFilter> filters =
      make_mel_filters({.n_mels = 128, .f_max_hz = 11025.0}, 22050, 256);
  EXPECT_TRUE(std::any_of(filters.begin(), filters.end(),
                          [](const MelFilter& filter) { return filter.weights.empty(); }));
  EXPECT_EQ(pack(filters).spans.size(), 128U);
}

}  // namespace
}  // namespace xtts::dsp
